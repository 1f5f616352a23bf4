// The examples along a path of techniques, to be looked at in Neo4j Browser.
// Parameters: path (technique ids, the start first).
// Columns: source, example, target (graph values).
UNWIND range(0, size($path) - 2) AS step
MATCH (source:Technique {id: $path[step]})-[example:TRANSITION]->
      (target:Technique {id: $path[step + 1]})
RETURN source, example, target
