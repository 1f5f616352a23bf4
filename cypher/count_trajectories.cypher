// Trajectories per target.
// Parameters: none. Columns: target, trajectories.
MATCH (t:Trajectory)
RETURN t.target AS target, count(*) AS trajectories
ORDER BY target
