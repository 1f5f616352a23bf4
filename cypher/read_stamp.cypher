// Whose database this is.
// Parameters: none. Columns: products, schema_version (null without a stamp), empty (no node).
OPTIONAL MATCH (m:Meta)
RETURN collect(m.product) AS products, max(m.schema_version) AS schema_version,
       NOT EXISTS { MATCH (n) } AS empty
