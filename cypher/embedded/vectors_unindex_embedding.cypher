// Take the index over `embedding` away.
// Parameters: none. Columns: done.
RETURN regraph.unindex_embedding() AS done
