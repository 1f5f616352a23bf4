// Techniques among some that an ingest made, without review, statistics and failures.
// Parameters: ids. Columns: id.
UNWIND $ids AS id
MATCH (t:Technique {id: id})
WHERE t.review AND NOT (t)-[:NEXT]-() AND NOT (t)-[:TRANSITION]-()
OPTIONAL MATCH (d:Decision)
WHERE d.id STARTS WITH 'curation ' AND t.id IN d.techniques
WITH t, count(d) AS curations
OPTIONAL MATCH (f:Failure)
WHERE f.source = t.id OR f.target = t.id
WITH t, curations, count(f) AS failures
WHERE curations = 0 AND failures = 0
RETURN t.id AS id
