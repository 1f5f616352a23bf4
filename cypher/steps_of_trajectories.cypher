// The steps of the trajectories from one id to another, archived ones too; those have a `before`
// at their first step only.
// An example's id is its trajectory's, a slash (the character before 0) and its number.
// Parameters: first, last. Columns: step (map); in no order.
MATCH (:Technique)-[r:TRANSITION]->(:Technique)
WHERE r.id >= $first + '/' AND r.id < $last + '0'
RETURN r {.*, measurements: null, embedding: null, embedding_2: null, code_embedding: null,
          code_embedding_2: null} AS step
UNION ALL
MATCH (a:Archived)
WHERE a.id >= $first + '/' AND a.id < $last + '0'
RETURN properties(a) AS step
