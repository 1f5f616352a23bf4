// When failures were merged.
// Parameters: rows [{id, created}]. Columns: none.
UNWIND $rows AS row
MATCH (f:Failure {id: row.id})
SET f.created = row.created
