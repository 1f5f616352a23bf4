// Pairs that have examples without a vector that they may have.
// Parameters: anew (true = all of them). Columns: source, target, examples.
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
WHERE $anew OR r.embedding IS NULL
RETURN s.id AS source, d.id AS target, count(*) AS examples
ORDER BY source, target
