// Every technique, the initial states too.
// Parameters: none. Columns: technique (map), ordered by id.
MATCH (t:Technique)
RETURN properties(t) AS technique
ORDER BY t.id
