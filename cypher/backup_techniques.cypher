// Every technique, the initial states among them.
// Parameters: none. Columns: technique (properties).
MATCH (t:Technique)
RETURN properties(t) AS technique
ORDER BY t.id
