// 03 Map of a target
// A picture: how techniques follow each other on a device, grown from the serial code. Of each
// technique the three next steps that gained most are gone (cautiously, as in query 02), five steps
// deep at most; shown are the 25 best paths to a technique each.
// Parameters: target, device
// :param target => 'cuda'
// :param device => 'NVIDIA H200'
// Columns: technique, times faster (product of the steps' geometric means), steps, path (graph value)
MATCH path = (:Technique {id: $target + '/start'})
  ((s)-[n:NEXT WHERE n.device = $device AND n.verified > 0 AND n.sum_log2_effect > 0]->(d)
   WHERE COUNT {
     MATCH (s)-[m:NEXT {device: $device}]->() WHERE m.verified > 0
       AND m.sum_log2_effect / (m.verified + 1.0) > n.sum_log2_effect / (n.verified + 1.0)
   } < 3
  ){1,5} (last)
WHERE all(t IN nodes(path) WHERE single(u IN nodes(path) WHERE u = t))
WITH last, path,
     reduce(sum = 0.0, m IN n | sum + m.sum_log2_effect / 1048576.0 / m.verified) AS doublings,
     reduce(sum = 0.0, m IN n | sum + m.sum_log2_effect / 1048576.0 / (m.verified + 1)) AS sure
ORDER BY sure DESC, size(n)
WITH last, collect({path: path, doublings: doublings, sure: sure})[0] AS best
ORDER BY best.sure DESC, last.id
LIMIT 25
RETURN last.name AS technique,
       round(2 ^ best.doublings, 2) AS `times faster`,
       length(best.path) AS steps,
       best.path AS path
