// Add unknown techniques. Known ones are not touched, nor locked.
// Parameters: techniques [{id, properties}], sorted by id. Columns: added (ids).
UNWIND $techniques AS row
OPTIONAL MATCH (known:Technique {id: row.id})
WITH row, known
WHERE known IS NULL
MERGE (t:Technique {id: row.id})
  ON CREATE SET t += row.properties, t.new = true
WITH t, t.new IS NOT NULL AS new
REMOVE t.new
RETURN collect(DISTINCT CASE WHEN new THEN t.id END) AS added
