// The evidence of the next trajectories by id.
// Parameters: after, limit. Columns: id, problem, learner, path, measurements, failures.
MATCH (t:Trajectory)
WHERE t.id > $after
RETURN t.id AS id, t.problem AS problem, t.learner AS learner, t.path AS path,
       t.measurements AS measurements, t.failures AS failures
ORDER BY id
LIMIT $limit
