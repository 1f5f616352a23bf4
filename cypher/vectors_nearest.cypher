// The nearest of the `candidates` examples that the index takes for the nearest.
// Parameters: property, vector, candidates, language (null = any), limit.
// Columns: source, target, example (map), similarity (cosine).
CALL db.index.vector.queryRelationships('transition_' + $property, $candidates, $vector)
YIELD relationship AS r
WITH startNode(r) AS s, r, endNode(r) AS d
WHERE ($language IS NULL OR d.target = $language)
WITH s, d, r, vector.similarity.cosine(r[$property], $vector) AS score,
     vector.similarity.cosine([1.0, 0.0], [0.0, 1.0]) AS zero  // 0.5 in Neo4j, 0 in the embedded store
ORDER BY score DESC, r.id
LIMIT $limit
RETURN s.id AS source, d.id AS target, (score - zero) / (1 - zero) AS similarity,
       r {.*, embedding: null, code_embedding: null} AS example
