// Log how labels were resolved, once per target and label. REMOVE locks an entry that was there, too:
// a purge that deletes it waits for us, and we for it.
// Parameters: rows [properties], sorted by id. Columns: id (null: deleted while we waited).
UNWIND $rows AS row
MERGE (d:Decision {id: row.id})
  ON CREATE SET d += row
SET d.locked = true
REMOVE d.locked
RETURN d.id AS id
