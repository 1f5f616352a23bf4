// Name the space of the graph's vectors, where it is still the one before.
// Parameters: before ('' = none), model, dimension. Columns: none.
MATCH (m:Meta)
WHERE coalesce(m.embedding_model, '') = $before
SET m.embedding_model = $model, m.dimension = $dimension
