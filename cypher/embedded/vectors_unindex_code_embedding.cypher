// Take the index over `code_embedding` away.
// Parameters: none. Columns: done.
RETURN regraph.unindex_code_embedding() AS done
