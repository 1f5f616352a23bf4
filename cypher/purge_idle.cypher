// Techniques among some that an ingest made, without review and statistics.
// Parameters: ids. Columns: id.
UNWIND $ids AS id
MATCH (t:Technique {id: id})
WHERE t.review AND NOT (t)-[:NEXT]-() AND NOT (t)-[:TRANSITION]-()
OPTIONAL MATCH (d:Decision)
WHERE d.id STARTS WITH 'curation ' AND t.id IN d.techniques
WITH t, count(d) AS curations
WHERE curations = 0
RETURN t.id AS id
