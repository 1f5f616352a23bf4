// 02 Strongest transitions
// Which technique, applied after which, gained most on one device. A table: times faster than the
// code before the step. Its order is cautious: a mean of few measurements is drawn towards 1.
// Parameters: device
// :param device => 'NVIDIA H200'
// Columns: after, apply, times faster (geometric mean), at best, verified, tried, without repair, examples
MATCH (s:Technique)-[n:NEXT]->(d:Technique)
WHERE n.device = $device AND n.verified > 0
WITH s, n, d, n.sum_log2_effect / 1048576.0 AS doublings
ORDER BY doublings / (n.verified + 1) DESC, n.id
LIMIT 25
RETURN s.name AS after,
       d.name AS apply,
       round(2 ^ (doublings / n.verified), 2) AS `times faster`,
       round(n.best_effect, 2) AS `at best`,
       n.verified AS verified,
       n.tried AS tried,
       n.verified_first AS `without repair`,
       n.examples AS examples
