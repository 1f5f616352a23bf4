// The steps of the trajectories from one id to another, archived ones too; those have a `before`
// at their first step only. Only the store's SQL takes the index over TRANSITION.id (start.cypher
// has the function): without it, every page would read every TRANSITION.
// Parameters: first, last. Columns: step (map); in no order.
UNWIND regraph.steps_between($first + '/', $last + '0') AS row
WITH row.step AS r
RETURN r {.*, measurements: null, embedding: null, embedding_2: null, code_embedding: null,
          code_embedding_2: null} AS step
UNION ALL
MATCH (a:Archived)
WHERE a.id >= $first + '/' AND a.id < $last + '0'
RETURN properties(a) AS step
