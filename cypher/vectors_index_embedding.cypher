// Index the vectors in `embedding`; it fills on its own.
// Parameters: dimension. Columns: none.
CREATE VECTOR INDEX transition_embedding IF NOT EXISTS FOR ()-[r:TRANSITION]-() ON (r.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}}
