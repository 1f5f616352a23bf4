// The authors' labels of steps and failures.
// Parameters: none. Columns: technique, label.
MATCH (t:Trajectory)
MATCH (s:Steps {id: t.id})
UNWIND range(1, size(s.labels)) AS step
RETURN DISTINCT t.path[step] AS technique, s.labels[step - 1] AS label
UNION
MATCH (f:Failure)
RETURN DISTINCT f.target AS technique, f.label AS label
