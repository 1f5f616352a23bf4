// Index vectors, those of texts and those of codes; they fill on their own. Statements end with a
// semicolon. Parameters: dimension. Columns: none.
CREATE VECTOR INDEX transition_embedding IF NOT EXISTS FOR ()-[r:TRANSITION]-() ON (r.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}};
CREATE VECTOR INDEX transition_code_embedding IF NOT EXISTS FOR ()-[r:TRANSITION]-() ON (r.code_embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}};
