// Labels are for Neo4j Browser, which the embedded store lacks; a record has one type there.
// Parameters: ids. Columns: none.
UNWIND [] AS none
RETURN none
