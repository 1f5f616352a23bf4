// The statistics of some problems; the index needs a source, too.
// Parameters: problems. Columns: share (map).
UNWIND $problems AS problem
MATCH (s:Share {problem: problem})
WHERE s.source > ''
RETURN properties(s) AS share
