// The authors' labels of archived steps.
// Parameters: ids (of examples). Columns: trajectory, step, label.
UNWIND $ids AS id
MATCH (a:Archived {id: id})
RETURN a.trajectory AS trajectory, a.step AS step, a.original_label AS label
