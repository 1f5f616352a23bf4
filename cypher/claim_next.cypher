// Create pairs' missing statistics, lock all of them until the end of the transaction, and read
// them.
// Parameters: rows [{id, source, target}], sorted by pair and device. Columns: statistics (map).
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
MERGE (s)-[n:NEXT {id: row.id}]->(d)
SET n.locked = true
REMOVE n.locked
RETURN properties(n) AS statistics
