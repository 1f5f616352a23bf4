// All NEXT rows out of one technique.
// Parameters: technique. Columns: technique (map), statistics (map).
MATCH (:Technique {id: $technique})-[n:NEXT]->(d:Technique)
RETURN properties(d) AS technique, properties(n) AS statistics
