// Archived examples with their trajectories. The SET takes the lock: what is read is final.
// Parameters: ids. Columns: example (map), trajectory (map).
UNWIND $ids AS id
MATCH (a:Archived {id: id})
SET a.step = a.step
WITH a
MATCH (t:Trajectory {id: a.trajectory})
RETURN properties(a) AS example, properties(t) AS trajectory
