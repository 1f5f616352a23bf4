// The examples that gained most, of all transitions.
// Parameters: language (null = any), limit. Columns: source, target, example (map).
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
WHERE $language IS NULL OR d.target = $language
WITH s, d, r
ORDER BY coalesce(r.effect, 0.0) DESC, r.id
LIMIT $limit
RETURN s.id AS source, d.id AS target, r {.*, embedding: null, code_embedding: null} AS example
