// Add unknown techniques, but none that was merged away; extend the aliases of known ones, but not
// by what a curator took from them. Older graphs' techniques are told when they hurt, and of what
// family they are.
// Parameters: techniques [{id, aliases, properties}], sorted by id. Columns: added.
OPTIONAL MATCH (heir:Technique)
WHERE size(heir.replaces) > 0
WITH collect(heir.replaces) AS replaced
UNWIND $techniques AS row
WITH row WHERE none(ids IN replaced WHERE row.id IN ids)
MERGE (t:Technique {id: row.id})
  ON CREATE SET t += row.properties, t.new = true
  ON MATCH SET t.family = coalesce(row.properties.family, t.family),
               t.hurts = coalesce(t.hurts, row.properties.hurts),
               t.aliases = t.aliases + [alias IN row.aliases WHERE NOT alias IN t.aliases
                                        AND NOT alias IN coalesce(t.disowned, [])]
WITH t, t.new IS NOT NULL AS new
REMOVE t.new
RETURN count(DISTINCT CASE WHEN new THEN t.id END) AS added
