// Take the index over `code_embedding_2` away.
// Parameters: none. Columns: none.
DROP INDEX transition_code_embedding_2 IF EXISTS
