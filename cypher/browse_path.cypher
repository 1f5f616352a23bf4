// The best examples of each step along a path of techniques, for Neo4j Browser.
// Parameters: path (technique ids, the start first).
// Columns: source, example, target (graph values).
WITH $path AS path
UNWIND range(0, size(path) - 2) AS step
MATCH (source:Technique {id: path[step]})-[example:TRANSITION]->
      (target:Technique {id: path[step + 1]})
WITH step, source, example, target
ORDER BY step, example.verified DESC, coalesce(example.effect, 0.0) DESC, example.id
WITH step, source, target, collect(example)[..3] AS examples
UNWIND examples AS example
RETURN source, example, target
