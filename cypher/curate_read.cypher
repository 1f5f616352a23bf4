// What trajectories say of their steps and failures.
// Parameters: ids. Columns: id, path, failures.
UNWIND $ids AS id
MATCH (t:Trajectory {id: id})
RETURN t.id AS id, t.path AS path, t.failures AS failures
