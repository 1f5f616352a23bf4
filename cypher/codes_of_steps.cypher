// The code before and after some steps, archived or not; archived ones have a `before` at their
// first step only.
// Parameters: rows [{id, source, target}]. Columns: id, before, code.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION {id: row.id}]->(:Technique {id: row.target})
RETURN r.id AS id, r.before AS before, r.after AS code
UNION ALL
UNWIND $rows AS row
MATCH (a:Archived {id: row.id})
RETURN a.id AS id, a.before AS before, a.after AS code
