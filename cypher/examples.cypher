// Examples of one transition, best first: by what they gained on the device where they are verified
// there, else by their latest measurement; those without code last. One that another writer takes
// away meanwhile is there in part: see `Example.whole`.
// Parameters: source, target, device ('' = any), exclude_problem (null = none), limit.
// Columns: example (map).
MATCH (:Technique {id: $source})-[r:TRANSITION]->(:Technique {id: $target})
WHERE $exclude_problem IS NULL OR r.problem <> $exclude_problem
WITH r, [i IN range(0, coalesce(size(r.verified_on), 0) - 1) WHERE r.verified_on[i] = $device] AS here
RETURN r {.*, embedding: null, embedding_2: null, code_embedding: null, code_embedding_2: null}
       AS example
ORDER BY r.disclosed IS NOT NULL, size(here) DESC, r.verified DESC, r.learner IS NOT NULL,
         coalesce(r.effects[head(here)], r.effect, 0.0) DESC, r.id
LIMIT $limit
