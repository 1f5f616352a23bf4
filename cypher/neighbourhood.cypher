// Successors of one technique with their NEXT rows; flat in the number of examples.
// Parameters: technique, limit.
// Columns: technique (map), statistics [NEXT properties]; most given examples first, then most
// learned ones, then id.
MATCH (:Technique {id: $technique})-[n:NEXT]->(d:Technique)
WITH d, collect(properties(n)) AS statistics, sum(n.examples) AS examples,
     sum(CASE WHEN n.learner IS NULL THEN n.examples ELSE 0 END) AS given
WHERE examples > 0
RETURN properties(d) AS technique, statistics
ORDER BY given DESC, examples DESC, d.id
LIMIT $limit
