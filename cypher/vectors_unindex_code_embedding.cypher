// Take the index over `code_embedding` away.
// Parameters: none. Columns: none.
DROP INDEX transition_code_embedding IF EXISTS
