// Where every TRANSITION is.
// Parameters: none. Columns: id, source, target.
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
RETURN r.id AS id, s.id AS source, d.id AS target
