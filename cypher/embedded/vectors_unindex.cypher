// Take the indexes over vectors away, a statement for each of edges.VECTORS. Statements end with a
// semicolon. Parameters: none. Columns: done.
RETURN regraph.unindex_embedding() AS done;
RETURN regraph.unindex_embedding_2() AS done;
RETURN regraph.unindex_code_embedding() AS done;
RETURN regraph.unindex_code_embedding_2() AS done;
