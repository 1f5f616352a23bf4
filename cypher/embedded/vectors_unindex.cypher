// Take the indexes over vectors away. Statements end with a semicolon.
// Parameters: none. Columns: done.
RETURN regraph.unindex_embedding() AS done;
RETURN regraph.unindex_code_embedding() AS done;
