// The next trajectories by id, with the texts of their steps.
// Parameters: after, limit. Columns: trajectory (map), steps (map; null while a writer commits).
MATCH (t:Trajectory)
WHERE t.id > $after
WITH t
ORDER BY t.id
LIMIT $limit
OPTIONAL MATCH (s:Steps {id: t.id})
RETURN properties(t) AS trajectory, properties(s) AS steps
ORDER BY t.id
