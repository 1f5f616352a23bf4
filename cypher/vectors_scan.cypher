// The nearest of all examples, compared one by one.
// Parameters: property, vector, language (null = any), limit.
// Columns: source, target, example (map), score, zero (the score of unrelated vectors).
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
WHERE r[$property] IS NOT NULL
  AND ($language IS NULL OR d.target = $language)
WITH s, d, r, vector.similarity.cosine(r[$property], $vector) AS score
ORDER BY score DESC, r.id
LIMIT $limit
RETURN s.id AS source, d.id AS target, score,
       r {.*, embedding: null, code_embedding: null} AS example,
       vector.similarity.cosine([1.0, 0.0], [0.0, 1.0]) AS zero
