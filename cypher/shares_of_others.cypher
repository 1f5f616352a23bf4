// The Shares of all problems but one in some pairs: no row that the one writes.
// Parameters: pairs, problem. Columns: share (map).
UNWIND $pairs AS pair
MATCH (s:Share {pair: pair})
WHERE s.problem <> $problem
RETURN properties(s) AS share
