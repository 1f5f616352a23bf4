// What all problems but one have in the statistics of some pairs; nothing that the one writes.
// Parameters: pairs, problem. Columns: share (map).
UNWIND $pairs AS pair
MATCH (s:Share {pair: pair})
WHERE s.problem <> $problem
RETURN properties(s) AS share
