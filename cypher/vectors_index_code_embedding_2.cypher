// Index the vectors in `code_embedding_2`; it fills on its own.
// Parameters: dimension. Columns: none.
CREATE VECTOR INDEX transition_code_embedding_2 IF NOT EXISTS
FOR ()-[r:TRANSITION]-() ON (r.code_embedding_2)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}}
