// The logged decisions on labels.
// Parameters: none. Columns: entry (map).
MATCH (d:Decision)
WHERE d.kind = 'relabel'
RETURN properties(d) AS entry
ORDER BY d.id
