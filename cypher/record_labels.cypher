// Log how labels were resolved, once per target and label.
// Parameters: rows [properties], sorted by id. Columns: none.
UNWIND $rows AS row
MERGE (d:Decision {id: row.id})
  ON CREATE SET d += row
