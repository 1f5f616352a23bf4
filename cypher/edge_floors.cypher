// What the archives of these pairs hold, in short.
// Parameters: ids. Columns: id, floors (JSON text; null = nothing).
UNWIND $ids AS id
MATCH (e:Edge {id: id})
RETURN e.id AS id, e.floors AS floors
