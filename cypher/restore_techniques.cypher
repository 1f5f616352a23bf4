// Techniques exactly as they were.
// Parameters: rows [properties], sorted by id. Columns: none.
UNWIND $rows AS row
MERGE (t:Technique {id: row.id})
SET t = row
