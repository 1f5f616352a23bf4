// Examples of one transition, most similar first if `vector` is given, those without one last; those
// best first: by what they gained on the device where they are verified there,
// else by their latest measurement, and last what no clock can have measured. One that another writer takes away meanwhile is there in part: see
// `Example.is_complete`.
// Parameters: source, target, property, vector (null = none), device ('' = any), limit.
// Columns: source, target, example (map), similarity (cosine).
MATCH (s:Technique {id: $source})-[r:TRANSITION]->(d:Technique {id: $target})
WITH s, d, r, vector.similarity.cosine(r[$property], $vector) AS score,
     vector.similarity.cosine([1.0, 0.0], [0.0, 1.0]) AS zero,  // 0.5 in Neo4j, 0 in the embedded store
     [i IN range(0, coalesce(size(r.verified_on), 0) - 1) WHERE r.verified_on[i] = $device] AS here
WITH *, coalesce(r.effects[head(here)], r.effect, 0.0) AS effect
ORDER BY score IS NULL, score DESC, size(here) DESC, r.verified DESC,
         r.learner IS NOT NULL, CASE WHEN effect > 1.0e6 THEN 0.0 ELSE effect END DESC, r.id
LIMIT $limit
RETURN s.id AS source, d.id AS target, (score - zero) / (1 - zero) AS similarity,
       r {.*, embedding: null, code_embedding: null} AS example
