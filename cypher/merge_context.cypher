// The graph's facts that a merge needs.
// Parameters: none. Columns: bound, replaced [{id, replaces}].
MATCH (m:Meta)
OPTIONAL MATCH (t:Technique)
WHERE size(t.replaces) > 0
WITH m, collect(CASE WHEN t IS NULL THEN null ELSE {id: t.id, replaces: t.replaces} END) AS replaced
RETURN m.bound AS bound, replaced
