// Index the vectors in `code_embedding`; it fills on its own.
// Parameters: dimension. Columns: none.
CREATE VECTOR INDEX transition_code_embedding IF NOT EXISTS
FOR ()-[r:TRANSITION]-() ON (r.code_embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}}
