// The failures of the trajectories from one id to another, as far as their trajectories do not tell.
// Parameters: first, last. Columns: id, code, created.
MATCH (f:Failure)
WHERE f.id >= $first + '/' AND f.id < $last + '0'
RETURN f.id AS id, f.code AS code, f.created AS created
