// The evidence of some problems' next trajectories by id.
// Parameters: problems, after, limit. Columns: id, problem, learner, path, measurements, failures.
UNWIND $problems AS problem
MATCH (t:Trajectory {problem: problem})
WHERE t.id > $after
RETURN t.id AS id, t.problem AS problem, t.learner AS learner, t.path AS path,
       t.measurements AS measurements, t.failures AS failures
ORDER BY id
LIMIT $limit
