// Techniques as they are.
// Parameters: ids. Columns: id, technique (map).
UNWIND $ids AS id
MATCH (t:Technique {id: id})
RETURN id, properties(t) AS technique
