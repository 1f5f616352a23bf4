// The graph's counts of each technique; flat in the number of examples.
// Parameters: none. Columns: technique (map), examples, tried, leaving, labels; ordered by id.
MATCH (t:Technique)
WHERE NOT t.id ENDS WITH '/start'
CALL (t) {
  OPTIONAL MATCH (:Technique)-[n:NEXT]->(t)
  RETURN sum(coalesce(n.examples, 0)) AS examples, sum(coalesce(n.tried, 0)) AS tried
}
CALL (t) {
  OPTIONAL MATCH (t)-[n:NEXT]->(:Technique)
  RETURN sum(coalesce(n.examples, 0)) AS leaving
}
RETURN properties(t) AS technique, examples, tried, leaving
ORDER BY t.id
