// Make failures, or give known ones these properties.
// Parameters: rows [properties], sorted by id; a null removes its property. Columns: none.
UNWIND $rows AS row
MERGE (f:Failure {id: row.id})
SET f += row
