// Where every failure is.
// Parameters: none. Columns: id, pair.
MATCH (f:Failure)
RETURN f.id AS id, f.pair AS pair
