// Indexes over vectors; they serve as soon as they are there (start.cypher has the function).
// Parameters: none. Columns: slot, online.
UNWIND regraph.vector_indexes() AS name
RETURN replace(replace(name, 'TRANSITION[', ''), ']', '') AS slot, true AS online
