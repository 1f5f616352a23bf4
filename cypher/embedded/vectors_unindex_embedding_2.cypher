// Take the index over `embedding_2` away.
// Parameters: none. Columns: done.
RETURN regraph.unindex_embedding_2() AS done
