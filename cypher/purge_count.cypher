// Counts of one origin's contents.
// Parameters: by (a property: problem, model or run), value.
// Columns: trajectories, examples, failures, free_runs.
OPTIONAL MATCH (t:Trajectory)
WHERE t[$by] = $value
WITH count(t) AS trajectories, coalesce(sum(t.steps), 0) AS examples, collect(t.id) AS ids
OPTIONAL MATCH (f:Failure)
WHERE f.trajectory IN ids
WITH trajectories, examples, count(f) AS failures
OPTIONAL MATCH (r:FreeRun)
WHERE r[$by] = $value
RETURN trajectories, examples, failures, count(r) AS free_runs
