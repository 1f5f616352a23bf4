// Hold the NEXT rows of pairs still until the end of the transaction.
// Parameters: rows [{source, target}], sorted. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT]->(:Technique {id: row.target})
SET n.locked = true
REMOVE n.locked
