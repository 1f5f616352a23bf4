// Whose database this is.
// Parameters: none. Columns: products, schema_version (null without a stamp), empty (no node),
// rebuilding (true while the graph is being rebuilt).
OPTIONAL MATCH (m:Meta)
RETURN collect(m.product) AS products, max(m.schema_version) AS schema_version,
       max(CASE WHEN m.rebuilding THEN 1 ELSE 0 END) = 1 AS rebuilding,
       NOT EXISTS { MATCH (n) } AS empty
