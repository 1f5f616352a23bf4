// Make transforms, or give known ones these properties. One of an unknown technique is left out.
// Parameters: rows [{id, technique, properties}], sorted by id. Columns: none.
UNWIND $rows AS row
MATCH (t:Technique {id: row.technique})
MERGE (x:Transform {id: row.id})
SET x += row.properties
MERGE (x)-[:CARRIES_OUT]->(t)
