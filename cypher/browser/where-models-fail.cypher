// 06 Where models fail
// Attempts that came to nothing, by step and by what went wrong, most frequent first.
// Parameters: none
// Columns: after, apply, what went wrong, failures, of tries (of the step, on all devices), for instance, models
MATCH (f:Failure)
WHERE NOT f.outcome IN ['declined', 'unchanged']
WITH f.source AS source, f.target AS target, f.outcome AS outcome,
     count(*) AS failures,
     collect(f.trajectory)[..20] AS trajectories,
     head([text IN collect(f.diagnosis) WHERE text <> '']) AS instance
ORDER BY failures DESC, source, target, outcome
LIMIT 25
MATCH (s:Technique {id: source})-[n:NEXT]->(d:Technique {id: target})
WITH s, d, outcome, failures, trajectories, instance, sum(n.tried) AS tried
RETURN s.name AS after,
       d.name AS apply,
       replace(outcome, '_', ' ') AS `what went wrong`,
       failures,
       tried AS `of tries`,
       instance AS `for instance`,
       COLLECT {
         MATCH (t:Trajectory) WHERE t.id IN trajectories RETURN DISTINCT t.model ORDER BY t.model
       } AS models
ORDER BY failures DESC, after, apply, `what went wrong`
