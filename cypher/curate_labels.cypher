// What the steps to one technique were called by their authors, where they are TRANSITIONs.
// Parameters: technique. Columns: trajectory, step, label.
MATCH (:Technique)-[r:TRANSITION]->(:Technique {id: $technique})
RETURN r.trajectory AS trajectory, r.step AS step, r.original_label AS label
