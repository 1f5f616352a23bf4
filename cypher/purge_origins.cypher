// The names of all origins of a kind.
// Parameters: by (a property: problem, model or run). Columns: name.
MATCH (t:Trajectory)
WHERE t[$by] IS NOT NULL
RETURN t[$by] AS name
UNION
MATCH (f:FreeRun)
WHERE f[$by] IS NOT NULL
RETURN f[$by] AS name
