// Add unknown techniques; extend the aliases of known ones.
// Parameters: techniques [{id, aliases, properties}], sorted by id. Columns: added.
UNWIND $techniques AS row
MERGE (t:Technique {id: row.id})
  ON CREATE SET t += row.properties, t.new = true
  ON MATCH SET t.aliases = t.aliases + [alias IN row.aliases WHERE NOT alias IN t.aliases]
WITH t, t.new IS NOT NULL AS new
REMOVE t.new
RETURN count(DISTINCT CASE WHEN new THEN t.id END) AS added
