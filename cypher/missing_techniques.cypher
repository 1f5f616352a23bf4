// Which of these techniques the graph lacks.
// Parameters: ids. Columns: id.
UNWIND $ids AS id
OPTIONAL MATCH (t:Technique {id: id})
WITH id, t WHERE t IS NULL
RETURN id
ORDER BY id
