// The next trajectories by id. Only the store's SQL takes them in the order of the index
// (start.cypher has the function): without it, every page would sort all that follow.
// Parameters: after, limit. Columns: trajectory (map).
UNWIND regraph.trajectories_after($after, $limit) AS id
MATCH (t:Trajectory {id: id})
RETURN properties(t) AS trajectory
ORDER BY t.id
