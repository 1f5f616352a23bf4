// Trajectories' paths and failures.
// Parameters: ids. Columns: id, problem, path, failures.
UNWIND $ids AS id
MATCH (t:Trajectory {id: id})
RETURN t.id AS id, t.problem AS problem, t.path AS path, t.failures AS failures
