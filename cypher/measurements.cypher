// Measurements of one technique's TRANSITIONs, those of one problem left out. What is archived
// is left out: it is behind the best of its device (backends/bounded.py).
// Parameters: source, targets, exclude_problem. Columns: target, learner,
// measurements (JSON text).
MATCH (:Technique {id: $source})-[r:TRANSITION]->(d:Technique)
WHERE d.id IN $targets AND r.problem <> $exclude_problem
RETURN d.id AS target, r.learner AS learner, r.measurements AS measurements
