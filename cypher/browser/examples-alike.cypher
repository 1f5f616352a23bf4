// 12 Examples alike
// The examples whose reasoning is most like that of one, of any technique, by the vector index.
// Parameters: example (query 05 shows ids)
// :param example => '...'
// Columns: step, problem, alike (1 = the same words), times faster, why, before, after, example
WITH split($example, '/') AS place
MATCH (t:Trajectory {id: place[0]})
WITH t, toInteger(place[1]) AS step
MATCH (:Technique {id: t.path[step - 1]})-[x:TRANSITION {id: $example}]->(:Technique)
CALL db.index.vector.queryRelationships('transition_embedding', 12, x.embedding)
YIELD relationship AS y, score
RETURN startNode(y).id + ' -> ' + endNode(y).id AS step,
       y.problem AS problem,
       round(2 * score - 1, 2) AS alike,
       CASE WHEN y.verified THEN round(y.effect, 2) ELSE coalesce(y.outcome, 'unmeasured') END
         AS `times faster`,
       y.reasoning AS why,
       y.before AS before,
       y.after AS after,
       y.id AS example
ORDER BY alike DESC, example
