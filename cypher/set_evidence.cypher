// Give known trajectories their new measurements and failures, and what follows from them.
// Parameters: rows [{id, properties}]. Columns: none.
UNWIND $rows AS row
MATCH (t:Trajectory {id: row.id})
SET t += row.properties
