// Indexes over vectors, and whether they serve already.
// Parameters: none. Columns: slot, online.
SHOW VECTOR INDEXES YIELD name, state
WHERE name IN ['transition_embedding', 'transition_embedding_2', 'transition_code_embedding',
               'transition_code_embedding_2']
RETURN replace(name, 'transition_', '') AS slot, state = 'ONLINE' AS online
