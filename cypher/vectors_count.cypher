// How many examples may have a vector.
// Parameters: none. Columns: examples.
MATCH ()-[r:TRANSITION]->()
RETURN count(r) AS examples
