// Techniques among some that a failure has, though no statistics do.
// Parameters: ids. Columns: id.
MATCH (f:Failure)
WHERE f.source IN $ids OR f.target IN $ids
UNWIND [f.source, f.target] AS id
WITH DISTINCT id
WHERE id IN $ids
RETURN id
