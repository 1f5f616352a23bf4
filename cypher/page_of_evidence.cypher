// The evidence of the next trajectories by id, all or those through some techniques.
// Parameters: after, limit, through (technique ids; null = all).
// Columns: id, problem, learner, path, measurements, failures.
MATCH (t:Trajectory)
WHERE t.id > $after AND ($through IS NULL OR any(id IN t.path WHERE id IN $through))
RETURN t.id AS id, t.problem AS problem, t.learner AS learner, t.path AS path,
       t.measurements AS measurements, t.failures AS failures
ORDER BY id
LIMIT $limit
