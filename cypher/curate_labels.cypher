// The authors' labels of the TRANSITIONs to one technique.
// Parameters: technique. Columns: trajectory, step, label.
MATCH (:Technique)-[r:TRANSITION]->(:Technique {id: $technique})
RETURN r.trajectory AS trajectory, r.step AS step, r.original_label AS label
