// The next decisions by id.
// Parameters: after, limit. Columns: id, decision (properties).
MATCH (d:Decision)
WHERE d.id > $after
RETURN d.id AS id, properties(d) AS decision
ORDER BY id
LIMIT $limit
