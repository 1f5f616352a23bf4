// Give known trajectories their new measurements.
// Parameters: rows [{id, measurements}]. Columns: none.
UNWIND $rows AS row
MATCH (t:Trajectory {id: row.id})
SET t.measurements = row.measurements
