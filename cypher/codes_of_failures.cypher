// The code that was kept of the failures of the trajectories from one id to another.
// Parameters: first, last. Columns: id, code.
MATCH (f:Failure)
WHERE f.id >= $first + '/' AND f.id < $last + '0' AND f.code IS NOT NULL
RETURN f.id AS id, f.code AS code
