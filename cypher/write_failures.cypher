// Make failures; a known one keeps when it came.
// Parameters: rows [{id, created, properties}], sorted by id; a null removes its property.
// Columns: none.
UNWIND $rows AS row
MERGE (f:Failure {id: row.id})
  ON CREATE SET f.created = row.created
SET f += row.properties
