// The evidence of the next trajectories by id through some techniques.
// Parameters: after, limit, through (technique ids).
// Columns: id, problem, learner, path, measurements, failures.
MATCH (t:Trajectory)
WHERE t.id > $after AND any(id IN t.path WHERE id IN $through)
RETURN t.id AS id, t.problem AS problem, t.learner AS learner, t.path AS path,
       t.measurements AS measurements, t.failures AS failures
ORDER BY id
LIMIT $limit
