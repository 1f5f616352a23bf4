// Index the vectors in `embedding`; returns once it is filled.
// Parameters: dimension. Columns: done.
RETURN regraph.index_embedding($dimension) AS done
