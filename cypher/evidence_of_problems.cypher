// The evidence of some problems' next trajectories by id.
// Parameters: problems, after, limit. Columns: id, problem, learner, path, measurements, failures,
// texts (of how many steps there are texts; null = of none).
UNWIND $problems AS problem
MATCH (t:Trajectory {problem: problem})
WHERE t.id > $after
WITH t
ORDER BY t.id
LIMIT $limit
OPTIONAL MATCH (s:Steps {id: t.id})
RETURN t.id AS id, t.problem AS problem, t.learner AS learner, t.path AS path,
       t.measurements AS measurements, t.failures AS failures, size(s.stages) AS texts
ORDER BY id
