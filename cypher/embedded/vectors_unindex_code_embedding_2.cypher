// Take the index over `code_embedding_2` away.
// Parameters: none. Columns: done.
RETURN regraph.unindex_code_embedding_2() AS done
