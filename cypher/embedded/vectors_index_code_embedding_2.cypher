// Index the vectors in `code_embedding_2`; returns once it is filled.
// Parameters: dimension. Columns: done.
RETURN regraph.index_code_embedding_2($dimension) AS done
