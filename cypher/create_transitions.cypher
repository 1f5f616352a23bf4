// Examples as relationships of their pair.
// Parameters: rows [{source, target, properties}], sorted by pair. Columns: written.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
CREATE (s)-[r:TRANSITION]->(d)
SET r = row.properties
RETURN count(*) AS written
