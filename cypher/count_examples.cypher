// How many examples there are.
// Parameters: none. Columns: examples.
MATCH (:Technique)-[r:TRANSITION]->(:Technique)
RETURN count(r) AS examples
