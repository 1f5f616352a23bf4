// The next decisions by id.
// Parameters: after, limit. Columns: node (properties).
MATCH (d:Decision)
WHERE d.id > $after
RETURN properties(d) AS node
ORDER BY d.id
LIMIT $limit
