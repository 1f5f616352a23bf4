// The trajectories of one origin.
// Parameters: by (a property: problem, model or run), value. Columns: id.
MATCH (t:Trajectory)
WHERE t[$by] = $value
RETURN t.id AS id
ORDER BY id
