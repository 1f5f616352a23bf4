// Pairs that have examples with a vector in `slot`, or without one that they may have.
// Parameters: slot, filled (boolean). Columns: source, target, examples.
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
WHERE (r[$slot] IS NOT NULL) = $filled AND coalesce(r.disclosed, '') <> 'statistics'
RETURN s.id AS source, d.id AS target, count(*) AS examples
ORDER BY source, target
