// Examples of one transition, best first.
// Parameters: source, target, device ('' = any), exclude_problem (null = none), limit.
// Columns: example (map).
MATCH (:Technique {id: $source})-[r:TRANSITION]->(:Technique {id: $target})
WHERE $exclude_problem IS NULL OR r.problem <> $exclude_problem
RETURN r {.*, embedding: null, embedding_2: null, code_embedding: null, code_embedding_2: null}
       AS example
ORDER BY $device IN r.verified_on DESC, r.verified DESC, r.learner IS NOT NULL,
         coalesce(r.effect, 0.0) DESC, r.id
LIMIT $limit
