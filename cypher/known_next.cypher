// Which statistics are there.
// Parameters: rows [{source, target, id}]. Columns: id.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT {id: row.id}]->(:Technique {id: row.target})
RETURN n.id AS id
