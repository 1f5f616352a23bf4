// The graph is restored.
// Parameters: none. Columns: none.
MATCH (m:Meta)
REMOVE m.restoring
