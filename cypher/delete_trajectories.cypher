// Delete trajectories with the texts of their steps.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (t:Trajectory {id: id})
OPTIONAL MATCH (s:Steps {id: id})
DELETE t, s
