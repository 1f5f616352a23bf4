// The code after some steps, archived or not.
// Parameters: rows [{id, source, target}]. Columns: id, code.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION {id: row.id}]->(:Technique {id: row.target})
RETURN r.id AS id, r.after AS code
UNION ALL
UNWIND $rows AS row
MATCH (a:Archived {id: row.id})
RETURN a.id AS id, a.after AS code
