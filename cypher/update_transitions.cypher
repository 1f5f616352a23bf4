// Bring TRANSITIONs up to date with their latest measurement; a null removes its property.
// Parameters: rows [{source, target, properties}], sorted by pair. Columns: id (of those found).
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[r:TRANSITION {id: row.properties.id}]->
      (:Technique {id: row.target})
SET r += row.properties
RETURN r.id AS id
