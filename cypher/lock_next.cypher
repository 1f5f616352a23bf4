// Hold pairs still until the end of the transaction: their techniques first, then their NEXT rows.
// Parameters: rows [{source, target}], sorted. Columns: none.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
SET s.name = s.name, d.name = d.name
WITH s, d
MATCH (s)-[n:NEXT]->(d)
SET n.last_seen = n.last_seen
