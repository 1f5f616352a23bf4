// Stamp an empty database as ours and create the initial states; may run again.
// Parameters: product, schema_version, starts [{id, properties}]. Columns: none.
MERGE (m:Meta {product: $product})
  ON CREATE SET m.schema_version = $schema_version
WITH m
UNWIND $starts AS row
MERGE (t:Technique {id: row.id})
  ON CREATE SET t += row.properties
