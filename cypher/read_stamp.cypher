// Whose database this is.
// Parameters: none. Columns: products, schema_version (null without a stamp), empty (no node),
// rebuilding (whose mark it has while it is being rebuilt, else null).
OPTIONAL MATCH (m:Meta)
RETURN collect(m.product) AS products, max(m.schema_version) AS schema_version,
       max(toString(m.rebuilding)) AS rebuilding,
       NOT EXISTS { MATCH (n) } AS empty
