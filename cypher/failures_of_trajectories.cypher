// The code of failures, for the trajectories between two ids.
// Parameters: first, last. Columns: id, code.
MATCH (f:Failure)
WHERE f.id >= $first + '/' AND f.id < $last + '0'
RETURN f.id AS id, f.code AS code
