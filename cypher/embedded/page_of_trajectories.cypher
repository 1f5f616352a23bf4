// The next trajectories by id, with the texts of their steps. Only the store's SQL takes them in the
// order of the index (start.cypher has the function): without it, every page would sort all that
// follow.
// Parameters: after, limit. Columns: trajectory (map), steps (map; null while a writer commits).
UNWIND regraph.trajectories_after($after, $limit) AS id
MATCH (t:Trajectory {id: id})
OPTIONAL MATCH (s:Steps {id: id})
RETURN properties(t) AS trajectory, properties(s) AS steps
ORDER BY t.id
