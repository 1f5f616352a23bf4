// 02 Strongest transitions
// Which technique, applied after which, gained most on one device. A table: times faster than the
// code before the step. Its order is cautious: a mean of few measurements is drawn towards 1.
// Parameters: device
// :param device => 'NVIDIA H200'
// Columns: after, apply, times faster (geometric mean), verified, tried, examples
MATCH (s:Technique)-[n:NEXT]->(d:Technique)
WHERE n.device = $device
WITH s, d, sum(n.sum_log2_effect) / 1048576.0 AS doublings, sum(n.verified) AS verified, sum(n.tried) AS tried,
     sum(n.examples) AS examples
WHERE verified > 0
WITH *
ORDER BY doublings / (verified + 1) DESC, s.id, d.id
LIMIT 25
RETURN s.name AS after,
       d.name AS apply,
       round(2 ^ (doublings / verified), 2) AS `times faster`,
       verified,
       tried,
       examples
