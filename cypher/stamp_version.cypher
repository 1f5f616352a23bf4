// A migration is through; never back to an older version.
// Parameters: product, version. Columns: none.
MATCH (m:Meta {product: $product})
WHERE m.schema_version < $version
SET m.schema_version = $version
