// 03 Map of a target
// A picture: each technique of a target with the one step from it that gained most on a device.
// Parameters: target, device
// :param target => 'cuda'
// :param device => 'NVIDIA H200'
// Columns: technique, next, successor (graph values), times faster (geometric mean)
MATCH (s:Technique {target: $target})-[n:NEXT]->(d:Technique)
WHERE n.device = $device AND n.verified > 0 AND s <> d
WITH s, n, d, n.sum_log2_effect / 1048576.0 AS doublings
WHERE doublings > 0
ORDER BY doublings / (n.verified + 1) DESC, n.id
WITH s, collect({next: n, to: d, mean: 2 ^ (doublings / n.verified)})[0] AS best
RETURN s AS technique, best.next AS next, best.to AS successor, round(best.mean, 2) AS `times faster`
ORDER BY `times faster` DESC
LIMIT 60
