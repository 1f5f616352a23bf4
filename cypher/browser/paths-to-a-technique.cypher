// 04 Paths to a technique
// A picture: how to get from the serial code to a technique on one device. Up to three paths of one
// to four steps, whose verified steps gained most together (cautiously, as in query 02).
// Parameters: technique, device
// :param technique => 'cuda/memory-coalescing'
// :param device => 'NVIDIA H200'
// Columns: times faster (product of the steps' geometric means), steps, by way of, path (graph value)
MATCH (goal:Technique {id: $technique})
MATCH (start:Technique {id: goal.target + '/start'})
MATCH path = (start)-[steps:NEXT*1..4]->(goal)
WHERE all(n IN steps WHERE n.device = $device AND n.verified > 0)
  AND all(t IN nodes(path) WHERE single(u IN nodes(path) WHERE u = t))
WITH path, steps,
     reduce(sum = 0.0, n IN steps | sum + n.sum_log2_effect / 1048576.0 / n.verified) AS doublings,
     reduce(sum = 0.0, n IN steps | sum + n.sum_log2_effect / 1048576.0 / (n.verified + 1)) AS sure
ORDER BY sure DESC, size(steps)
LIMIT 3
RETURN round(2 ^ doublings, 2) AS `times faster`,
       size(steps) AS steps,
       substring(reduce(text = '', t IN tail(nodes(path)) | text + ' > ' + t.name), 3) AS `by way of`,
       path
