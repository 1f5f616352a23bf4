// The next runs of free steps by id.
// Parameters: after, limit. Columns: run (map); ordered by id.
MATCH (f:FreeRun)
WHERE f.id > $after
RETURN properties(f) AS run
ORDER BY f.id
LIMIT $limit
