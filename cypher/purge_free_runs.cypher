// Delete one origin's runs of free steps.
// Parameters: by (a property: problem, model or run), value. Columns: deleted.
OPTIONAL MATCH (f:FreeRun)
WHERE f[$by] = $value
DELETE f
RETURN count(f) AS deleted
