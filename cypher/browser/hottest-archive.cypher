// 10 Hottest archive
// The transition with most examples keeps its best ones in sight; these are the best of the rest.
// Parameters: none
// Columns: after, apply, in sight, archived (examples of the pair), problem, times faster (than before), why, model, example (its id)
MATCH (a:Archived)
WITH a.pair AS pair, count(*) AS archived
ORDER BY archived DESC, pair
LIMIT 1
MATCH (a:Archived {pair: pair})
WITH archived, a
ORDER BY a.verified_on = [], coalesce(a.effect, 0.0) DESC, a.id
LIMIT 25
MATCH (s:Technique {id: a.source})
MATCH (d:Technique {id: a.target})
MATCH (t:Trajectory {id: a.trajectory})
WITH a, archived, s, d, t, COUNT { (s)-[:TRANSITION]->(d) } AS kept
RETURN s.name AS after,
       d.name AS apply,
       kept AS `in sight`,
       archived,
       a.problem AS problem,
       CASE a.verified_on WHEN [] THEN 'not verified' ELSE round(a.effect, 2) END AS `times faster`,
       a.reasoning AS why,
       t.model AS model,
       a.id AS example
