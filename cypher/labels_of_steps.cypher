// The authors' labels of trajectories' steps.
// Parameters: ids. Columns: id, labels.
UNWIND $ids AS id
MATCH (s:Steps {id: id})
RETURN id, s.labels AS labels
