// Index the vectors in `embedding_2`; returns once it is filled.
// Parameters: dimension. Columns: done.
RETURN regraph.index_embedding_2($dimension) AS done
