// Every technique but the initial states.
// Parameters: target (null = all). Columns: technique (map), ordered by id.
MATCH (t:Technique)
WHERE NOT t.id ENDS WITH '/start' AND ($target IS NULL OR t.target = $target)
RETURN properties(t) AS technique
ORDER BY t.id
