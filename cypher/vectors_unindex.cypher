// Take the indexes over vectors away. Statements end with a semicolon.
// Parameters: none. Columns: none.
DROP INDEX transition_embedding IF EXISTS;
DROP INDEX transition_code_embedding IF EXISTS;
