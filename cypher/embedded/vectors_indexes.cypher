// Indexes over vectors; they serve as soon as they are there (start.cypher has the function).
// Parameters: none. Columns: property, online.
UNWIND regraph.vector_indexes() AS name
RETURN replace(replace(name, 'TRANSITION[', ''), ']', '') AS property, true AS online
