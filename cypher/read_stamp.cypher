// Whose database this is, and whether there is anything in it to lose.
// Parameters: none. Columns: products, schema_version (null without a stamp), empty (no node),
// bare (no more than a stamp and the initial states), restoring (digest of the backup, or null).
OPTIONAL MATCH (m:Meta)
RETURN collect(m.product) AS products, max(m.schema_version) AS schema_version,
       max(m.restoring) AS restoring,
       NOT EXISTS { MATCH (n) } AS empty,
       NOT EXISTS { MATCH (:Trajectory) } AND NOT EXISTS { MATCH (:FreeRun) }
       AND NOT EXISTS { MATCH (t:Technique) WHERE NOT t.id ENDS WITH '/start' } AS bare
