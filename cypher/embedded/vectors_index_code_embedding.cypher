// Index the vectors in `code_embedding`; returns once it is filled.
// Parameters: dimension. Columns: done.
RETURN regraph.index_code_embedding($dimension) AS done
