// Hold pairs still until the end of the transaction: their techniques first, then their NEXT rows.
// A property of its own takes the lock: one set to its own value would be read before the lock.
// Parameters: rows [{source, target}], sorted. Columns: none.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
SET s.locked = true, d.locked = true
REMOVE s.locked, d.locked
WITH s, d
MATCH (s)-[n:NEXT]->(d)
SET n.locked = true
REMOVE n.locked
