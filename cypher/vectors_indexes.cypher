// Indexes over vectors, and whether they serve already.
// Parameters: none. Columns: slot, online.
SHOW VECTOR INDEXES YIELD name, state
WHERE name STARTS WITH 'transition_embedding'
RETURN replace(name, 'transition_', '') AS slot, state = 'ONLINE' AS online
