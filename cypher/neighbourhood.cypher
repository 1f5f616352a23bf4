// Successors of one technique with their NEXT rows; flat in the number of examples.
// Parameters: technique, limit.
// Columns: technique (map), statistics [NEXT properties]; most examples first, then id.
MATCH (:Technique {id: $technique})-[n:NEXT]->(d:Technique)
WITH d, collect(properties(n)) AS statistics, sum(n.examples) AS examples
WHERE examples > 0
RETURN properties(d) AS technique, statistics
ORDER BY examples DESC, d.id
LIMIT $limit
