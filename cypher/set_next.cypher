// Set statistics, whose locks are held; a null removes its property.
// Parameters: rows [{id, source, target, properties; see backends/shares.py}]. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT {id: row.id}]->(:Technique {id: row.target})
SET n += row.properties
