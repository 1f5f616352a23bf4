// Set trajectories' paths and failures.
// Parameters: rows [{id, path, failures (null = as they were)}]. Columns: none.
UNWIND $rows AS row
MATCH (t:Trajectory {id: row.id})
SET t.path = row.path, t.failures = coalesce(row.failures, t.failures)
