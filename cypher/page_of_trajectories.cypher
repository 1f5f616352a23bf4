// The next trajectories by id.
// Parameters: after, limit. Columns: trajectory (map).
MATCH (t:Trajectory)
WHERE t.id > $after
RETURN properties(t) AS trajectory
ORDER BY t.id
LIMIT $limit
