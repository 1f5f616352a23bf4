// Measurements of one technique's examples, those of one problem left out.
// Parameters: source, targets, exclude_problem. Columns: target, measurements (JSON text).
MATCH (:Technique {id: $source})-[r:TRANSITION]->(d:Technique)
WHERE d.id IN $targets AND r.problem <> $exclude_problem
RETURN d.id AS target, r.measurements AS measurements
