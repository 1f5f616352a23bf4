// What trajectories say from now on of their steps and failures.
// Parameters: rows [{id, path, failures}]. Columns: none.
UNWIND $rows AS row
MATCH (t:Trajectory {id: row.id})
SET t.path = row.path, t.failures = row.failures
