// What only the embedded store's own process can do, in its SQL: runs at every start. Vectors are
// kept as float32 (a list of floats takes twice the time to write and five times to compare), and
// the functions do for Bolt clients what the store's Cypher has no statement for.
// Parameters: none. Columns: none.
CREATE EDGE TYPE TRANSITION IF NOT EXISTS;
CREATE PROPERTY TRANSITION.embedding IF NOT EXISTS ARRAY_OF_FLOATS;
CREATE PROPERTY TRANSITION.code_embedding IF NOT EXISTS ARRAY_OF_FLOATS;
DEFINE FUNCTION regraph.index_embedding "CREATE PROPERTY TRANSITION.embedding IF NOT EXISTS ARRAY_OF_FLOATS; CREATE INDEX IF NOT EXISTS ON TRANSITION (embedding) LSM_VECTOR METADATA {dimensions: :d, similarity: 'COSINE', efSearch: 400}" PARAMETERS [d] LANGUAGE sql;
DEFINE FUNCTION regraph.index_code_embedding "CREATE PROPERTY TRANSITION.code_embedding IF NOT EXISTS ARRAY_OF_FLOATS; CREATE INDEX IF NOT EXISTS ON TRANSITION (code_embedding) LSM_VECTOR METADATA {dimensions: :d, similarity: 'COSINE', efSearch: 400}" PARAMETERS [d] LANGUAGE sql;
DEFINE FUNCTION regraph.unindex_embedding "DROP INDEX `TRANSITION[embedding]` IF EXISTS" LANGUAGE sql;
DEFINE FUNCTION regraph.unindex_code_embedding "DROP INDEX `TRANSITION[code_embedding]` IF EXISTS" LANGUAGE sql;
DEFINE FUNCTION regraph.vector_indexes "SELECT list(name) AS names FROM schema:indexes WHERE indexType = 'LSM_VECTOR' AND name LIKE 'TRANSITION[%'" LANGUAGE sql;
DEFINE FUNCTION regraph.trajectories_after "SELECT list(id) AS ids FROM (SELECT id FROM Trajectory WHERE id > :lower ORDER BY id LIMIT :most)" PARAMETERS [lower, most] LANGUAGE sql;
