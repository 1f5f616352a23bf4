// The model and property of the graph's vectors, and those that are to take their place.
// Parameters: none.
// Columns: model, dimension, prompts, slot, next_model, next_dimension, next_prompts (may be null).
MATCH (m:Meta)
RETURN m.embedding_model AS model, m.dimension AS dimension, m.embedding_prompts AS prompts,
       m.embedding_slot AS slot, m.next_model AS next_model, m.next_dimension AS next_dimension,
       m.next_prompts AS next_prompts
