// The nearest of all examples, compared one by one.
// Parameters: property, vector, language (null = any), limit.
// Columns: source, target, example (map), similarity (cosine).
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
WHERE r[$property] IS NOT NULL
  AND ($language IS NULL OR d.target = $language)
WITH s, d, r, vector.similarity.cosine(r[$property], $vector) AS score,
     vector.similarity.cosine([1.0, 0.0], [0.0, 1.0]) AS zero  // 0.5 in Neo4j, 0 in the embedded store
ORDER BY score DESC, r.id
LIMIT $limit
RETURN s.id AS source, d.id AS target, (score - zero) / (1 - zero) AS similarity,
       r {.*, embedding: null, code_embedding: null} AS example
