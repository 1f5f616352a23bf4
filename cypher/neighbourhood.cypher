// All NEXT rows around one technique, and one problem's Shares of them, read before and after: a
// difference shows a write meanwhile.
// Parameters: technique, problem.
// Columns: rows [{technique (map), statistics [NEXT properties]}], own, own_then [Share properties].
OPTIONAL MATCH (s:Share {problem: $problem, source: $technique})
WITH collect(properties(s)) AS own
OPTIONAL MATCH (:Technique {id: $technique})-[n:NEXT]->(d:Technique)
WITH own, d, collect(properties(n)) AS statistics
WITH own, collect({technique: properties(d), statistics: statistics}) AS rows
OPTIONAL MATCH (s:Share {problem: $problem, source: $technique})
RETURN rows, own, collect(properties(s)) AS own_then
