// Index vectors, a statement for each of edges.VECTORS; each returns once it is filled. Statements end with a semicolon.
// Parameters: dimension. Columns: done.
RETURN regraph.index_embedding($dimension) AS done;
RETURN regraph.index_embedding_2($dimension) AS done;
RETURN regraph.index_code_embedding($dimension) AS done;
RETURN regraph.index_code_embedding_2($dimension) AS done;
