// Give known trajectories their new measurements and failures.
// Parameters: rows [{id, measurements, failures, effects}]. Columns: none.
UNWIND $rows AS row
MATCH (t:Trajectory {id: row.id})
SET t.measurements = row.measurements, t.failures = row.failures, t.effects = row.effects
