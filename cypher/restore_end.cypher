// The graph is restored; its embeddings, of the same model as before, are still to be made.
// Parameters: model, dimension, prompts (null where it had none). Columns: none.
MATCH (m:Meta)
SET m.embedding_model = $model, m.dimension = $dimension, m.embedding_prompts = $prompts
REMOVE m.restoring
