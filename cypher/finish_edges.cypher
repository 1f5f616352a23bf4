// After a recount: count the failures that keep their code; drop Edges of pairs without a trace.
// Parameters: ids. Columns: none.
UNWIND $ids AS id
MATCH (e:Edge {id: id})
OPTIONAL MATCH (f:Failure {pair: id})
WITH e, count(f) AS failures, count(f.code) AS codes, e.kept AS kept
SET e.codes = codes
WITH e, failures, kept
WHERE failures = 0 AND kept = 0
DELETE e
