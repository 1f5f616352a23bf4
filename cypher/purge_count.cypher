// Counts of one origin's contents.
// Parameters: by (a property: problem, model or run), value.
// Columns: trajectories, examples, failures.
OPTIONAL MATCH (t:Trajectory)
WHERE t[$by] = $value
WITH count(t) AS trajectories, coalesce(sum(t.steps), 0) AS examples, collect(t.id) AS ids
OPTIONAL MATCH (f:Failure)
WHERE f.trajectory IN ids
RETURN trajectories, examples, count(f) AS failures
