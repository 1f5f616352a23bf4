// Indexes over vectors, and whether they serve already.
// Parameters: none. Columns: property, online.
SHOW VECTOR INDEXES YIELD name, state
WHERE name IN ['transition_embedding', 'transition_code_embedding']
RETURN replace(name, 'transition_', '') AS property, state = 'ONLINE' AS online
