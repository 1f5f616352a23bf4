// The next runs of free steps by id.
// Parameters: after, limit. Columns: node (properties).
MATCH (f:FreeRun)
WHERE f.id > $after
RETURN properties(f) AS node
ORDER BY f.id
LIMIT $limit
