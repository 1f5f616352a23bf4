// The authors' labels of steps and failures.
// Parameters: none. Columns: technique, label.
MATCH (:Technique)-[r:TRANSITION]->(t:Technique)
RETURN DISTINCT t.id AS technique, r.original_label AS label
UNION
MATCH (a:Archived)
RETURN DISTINCT a.target AS technique, a.original_label AS label
UNION
MATCH (f:Failure)
RETURN DISTINCT f.target AS technique, f.label AS label
