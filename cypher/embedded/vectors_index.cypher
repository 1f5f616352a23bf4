// Index vectors, those of texts and those of codes; each returns once it is filled. Statements end
// with a semicolon. Parameters: dimension. Columns: done.
RETURN regraph.index_embedding($dimension) AS done;
RETURN regraph.index_code_embedding($dimension) AS done;
