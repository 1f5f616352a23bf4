// Properties of failures that their trajectories lack, for the trajectories between two ids.
// Parameters: first, last. Columns: id, code, created.
MATCH (f:Failure)
WHERE f.id >= $first + '/' AND f.id < $last + '0'
RETURN f.id AS id, f.code AS code, f.created AS created
