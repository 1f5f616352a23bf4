// Whether anything is left of a problem in the statistics; the index needs a source, too.
// Parameters: problem. Columns: left.
MATCH (s:Share {problem: $problem})
WHERE s.source > ''
RETURN count(s) AS left
