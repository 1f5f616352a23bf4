// Every NEXT row that still counts something.
// Parameters: none. Columns: source, target, statistics (map); ordered by pair and device.
MATCH (s:Technique)-[n:NEXT]->(d:Technique)
WHERE n.examples > 0 OR n.tried > 0 OR n.declined > 0
RETURN s.id AS source, d.id AS target, properties(n) AS statistics
ORDER BY source, target, n.device
