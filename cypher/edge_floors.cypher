// The floors of these pairs' archives.
// Parameters: ids. Columns: id, floors (JSON text; null = nothing).
UNWIND $ids AS id
MATCH (e:Edge {id: id})
RETURN e.id AS id, e.floors AS floors
