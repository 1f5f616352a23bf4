// When statistics last grew.
// Parameters: rows [{id, source, target, last_seen}]. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT {id: row.id}]->(:Technique {id: row.target})
SET n.last_seen = row.last_seen
