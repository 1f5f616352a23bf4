// Delete NEXT rows that count nothing any more, whose locks are held.
// Parameters: rows [{id, source, target}]. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT {id: row.id}]->(:Technique {id: row.target})
DELETE n
