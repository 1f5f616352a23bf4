// The space of the graph's vectors.
// Parameters: none. Columns: model, dimension.
MATCH (m:Meta)
RETURN m.embedding_model AS model, m.dimension AS dimension
