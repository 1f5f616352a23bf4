// Make techniques, or give known ones these properties.
// Parameters: rows [{id, properties}], sorted by id. Columns: none.
UNWIND $rows AS row
MERGE (t:Technique {id: row.id})
SET t += row.properties
