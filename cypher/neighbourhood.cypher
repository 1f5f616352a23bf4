// Successors of one technique with their NEXT rows and the ids of their best examples.
// Parameters: technique, device, exclude_problem (null = none), limit, best (ids per successor).
// Columns: technique (map), statistics [NEXT properties], example_ids; most examples first, then id.
MATCH (s:Technique {id: $technique})-[n:NEXT]->(d:Technique)
WITH s, d, collect(properties(n)) AS statistics, sum(n.examples) AS examples
WHERE examples > 0
WITH s, d, statistics, examples
ORDER BY examples DESC, d.id
LIMIT $limit
CALL (s, d) {
  MATCH (s)-[r:TRANSITION]->(d)
  WHERE $exclude_problem IS NULL OR r.problem <> $exclude_problem
  WITH r
  ORDER BY $device IN r.verified_on DESC, r.verified DESC, coalesce(r.effect, 0.0) DESC, r.id
  LIMIT $best
  RETURN collect(r.id) AS example_ids
}
RETURN properties(d) AS technique, statistics, example_ids
ORDER BY examples DESC, d.id
