// A graph's bound and embedding space.
// Parameters: none. Columns: bound, model, dimension, prompts.
MATCH (m:Meta)
RETURN m.bound AS bound, m.embedding_model AS model, m.dimension AS dimension,
       m.embedding_prompts AS prompts
