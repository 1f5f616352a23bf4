// What the free steps of the next runs by id came to.
// Parameters: after, limit. Columns: run (map); ordered by id.
MATCH (f:FreeRun)
WHERE f.id > $after
RETURN properties(f) AS run
ORDER BY f.id
LIMIT $limit
