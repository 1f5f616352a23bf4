// Techniques that no step or failure leads to, and that only an ingest made, or another replaced.
// Parameters: none. Columns: id.
MATCH (heir:Technique)
WITH collect(coalesce(heir.replaces, [])) AS replaced
MATCH (t:Technique)
WHERE (t.review OR any(ids IN replaced WHERE t.id IN ids))
  AND NOT (t)-[:NEXT]-() AND NOT (t)-[:TRANSITION]-() AND NOT (t)-[:CARRIES_OUT]-()
OPTIONAL MATCH (f:Failure)
WHERE f.source = t.id OR f.target = t.id
WITH t, count(f) AS failures
WHERE failures = 0
RETURN t.id AS id
