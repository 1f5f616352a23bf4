// Texts and codes of examples without a vector.
// Parameters: rows [{source, target}], anew (true = all of them).
// Columns: source, target, id, name, definition, label, reasoning, detail, before.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION]->(d:Technique {id: row.target})
WHERE $anew OR r.embedding IS NULL
RETURN row.source AS source, row.target AS target, r.id AS id, d.name AS name,
       d.definition AS definition, r.original_label AS label, r.reasoning AS reasoning,
       r.detail AS detail, r.before AS before
ORDER BY source, target, id
