// The space of the graph's vectors.
// Parameters: none. Columns: model, dimension, prompts (null: none).
MATCH (m:Meta)
RETURN m.embedding_model AS model, m.dimension AS dimension, m.embedding_prompts AS prompts
