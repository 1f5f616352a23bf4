// Techniques among some that an ingest made, without review, statistics and failures.
// Parameters: ids. Columns: id.
UNWIND $ids AS id
MATCH (t:Technique {id: id})
WHERE t.review AND NOT (t)-[:NEXT]-() AND NOT (t)-[:TRANSITION]-()
OPTIONAL MATCH (f:Failure)
WHERE f.source = t.id OR f.target = t.id
WITH t, count(f) AS failures
WHERE failures = 0
RETURN t.id AS id
