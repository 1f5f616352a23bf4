// The graph is restored; its embeddings, of the same model as before, are still to be made.
// Parameters: model, dimension (null where it had none). Columns: none.
MATCH (m:Meta)
SET m.embedding_model = $model, m.dimension = $dimension
REMOVE m.restoring
