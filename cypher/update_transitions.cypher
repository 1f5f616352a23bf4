// Bring TRANSITIONs up to date with their latest measurement; a null removes its property.
// Parameters: rows [{source, target, id, properties}], sorted by pair. Columns: written.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION {id: row.id}]->(:Technique {id: row.target})
SET r += row.properties
RETURN count(*) AS written
