// Every pair that has an Edge.
// Parameters: none. Columns: id.
MATCH (e:Edge)
RETURN e.id AS id
ORDER BY id
