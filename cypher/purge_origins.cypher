// The names of all origins of a kind.
// Parameters: by (a property: problem, model or run). Columns: name.
MATCH (t:Trajectory)
WHERE t[$by] IS NOT NULL
RETURN DISTINCT t[$by] AS name
