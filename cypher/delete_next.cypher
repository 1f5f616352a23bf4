// Delete the NEXT rows of pairs that count nothing any more.
// Parameters: rows [{source, target}], keep (NEXT ids). Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT]->(:Technique {id: row.target})
WHERE NOT n.id IN $keep
DELETE n
