// Steps with their trajectories and texts.
// Parameters: rows [{trajectory, step, source, target}].
// Columns: source, target, step, node (the trajectory's map), steps (map).
UNWIND $rows AS row
MATCH (t:Trajectory {id: row.trajectory})
MATCH (s:Steps {id: row.trajectory})
RETURN row.source AS source, row.target AS target, row.step AS step,
       properties(t) AS node, properties(s) AS steps
