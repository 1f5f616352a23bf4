// Write entries of the logs.
// Parameters: rows [properties], sorted by id. Columns: none.
UNWIND $rows AS row
MERGE (d:Decision {id: row.id})
SET d = row
