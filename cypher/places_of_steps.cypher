// Where the examples of the trajectories from one id to another are.
// An example's id is its trajectory's, a slash (the character before 0) and its number.
// Parameters: first, last. Columns: id, source, target.
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
WHERE r.id >= $first + '/' AND r.id < $last + '0'
RETURN r.id AS id, s.id AS source, d.id AS target
UNION ALL
MATCH (a:Archived)
WHERE a.id >= $first + '/' AND a.id < $last + '0'
RETURN a.id AS id, a.source AS source, a.target AS target
