// Every problem's statistics of these pairs.
// Parameters: pairs. Columns: share (map).
UNWIND $pairs AS pair
MATCH (s:Share {pair: pair})
RETURN properties(s) AS share
