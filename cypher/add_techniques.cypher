// Add unknown techniques, but none that was merged away. Known ones are not touched, nor locked.
// Parameters: techniques [{id, properties}], sorted by id. Columns: added (ids).
OPTIONAL MATCH (heir:Technique)
WHERE size(heir.replaces) > 0
WITH collect(heir.replaces) AS replaced
UNWIND $techniques AS row
OPTIONAL MATCH (known:Technique {id: row.id})
WITH row, known, replaced
WHERE known IS NULL AND none(ids IN replaced WHERE row.id IN ids)
MERGE (t:Technique {id: row.id})
  ON CREATE SET t += row.properties, t.new = true
WITH t, t.new IS NOT NULL AS new
REMOVE t.new
RETURN collect(DISTINCT CASE WHEN new THEN t.id END) AS added
