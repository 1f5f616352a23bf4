// Failures, as evidence.
// Parameters: rows [properties]. Columns: none.
UNWIND $rows AS row
MERGE (f:Failure {id: row.id})
SET f = row
