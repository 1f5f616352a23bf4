// How labels were resolved, where that was no matter of course.
// Parameters: none. Columns: entry (map).
MATCH (d:Decision)
WHERE d.kind = 'relabel'
RETURN properties(d) AS entry
ORDER BY d.id
