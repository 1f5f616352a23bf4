// Delete trajectories.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (t:Trajectory {id: id})
DELETE t
