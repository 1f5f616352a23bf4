// Take the indexes over vectors away, a statement for each of edges.VECTORS. Statements end with a
// semicolon. Parameters: none. Columns: none.
DROP INDEX transition_embedding IF EXISTS;
DROP INDEX transition_embedding_2 IF EXISTS;
DROP INDEX transition_code_embedding IF EXISTS;
DROP INDEX transition_code_embedding_2 IF EXISTS;
