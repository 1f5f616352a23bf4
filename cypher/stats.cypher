// Totals of techniques, pairs and examples; flat in the number of examples.
// Parameters: none. Columns: techniques, pairs, transitions.
MATCH (t:Technique)
WHERE NOT t.id ENDS WITH '/start'
WITH count(t) AS techniques
OPTIONAL MATCH (s:Technique)-[n:NEXT]->(d:Technique)
WITH techniques, s, d, sum(n.examples) AS examples
RETURN techniques, count(CASE WHEN examples > 0 THEN 1 END) AS pairs, sum(examples) AS transitions
