// The NEXT rows out of techniques whose ids begin with `prefix`.
// Parameters: prefix. Columns: source, target, statistics (map); ordered by pair and device.
MATCH (s:Technique)-[n:NEXT]->(d:Technique)
WHERE s.id STARTS WITH $prefix
RETURN s.id AS source, d.id AS target, properties(n) AS statistics
ORDER BY source, target, n.device
