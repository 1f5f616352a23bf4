// 10 Hottest archive
// The transition with most examples keeps its best ones in sight; these are the best of the rest.
// Parameters: none
// Columns: after, apply, in sight, archived (examples of the pair), problem, times faster (than before), why, model, example (its id)
MATCH (e:Edge)
WITH e.kept AS kept, split(e.id, ' ') AS ends
MATCH (s:Technique {id: ends[0]})-[n:NEXT]->(d:Technique {id: ends[1]})
WITH s, d, kept, sum(n.examples) AS examples
WITH s, d, kept, examples - kept AS archived
WHERE archived > 0
WITH *
ORDER BY archived DESC, s.id, d.id
LIMIT 1
MATCH (t:Trajectory)
WHERE s.id IN t.path AND d.id IN t.path
UNWIND range(1, t.steps) AS step
WITH s, d, kept, archived, t, step, t.id + '/' + toString(step) AS example
WHERE t.path[step - 1] = s.id AND t.path[step] = d.id
  AND NOT EXISTS { MATCH (s)-[:TRANSITION {id: example}]->(d) }
WITH s, d, kept, archived, t, step, example
ORDER BY t.effects[step - 1] DESC, example
LIMIT 25
MATCH (k:Steps {id: t.id})
RETURN s.name AS after,
       d.name AS apply,
       kept AS `in sight`,
       archived,
       t.problem AS problem,
       CASE t.effects[step - 1] WHEN 0.0 THEN 'not verified' ELSE round(t.effects[step - 1], 2) END
         AS `times faster`,
       k.reasonings[step - 1] AS why,
       t.model AS model,
       example
