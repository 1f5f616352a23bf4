// When each statistic last grew.
// Parameters: none. Columns: id, source, target, last_seen.
MATCH (s:Technique)-[n:NEXT]->(d:Technique)
WHERE n.last_seen IS NOT NULL
RETURN n.id AS id, s.id AS source, d.id AS target, n.last_seen AS last_seen
ORDER BY id
