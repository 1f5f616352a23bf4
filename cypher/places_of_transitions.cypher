// Where the TRANSITIONs of the trajectories from one id to another are.
// An example's id is its trajectory's, a slash (the character before 0) and its number.
// Parameters: first, last. Columns: id, source, target.
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
WHERE r.id >= $first + '/' AND r.id < $last + '0'
RETURN r.id AS id, s.id AS source, d.id AS target
