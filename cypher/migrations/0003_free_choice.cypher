// What models' free choices came to, a node a run.
// Version 3. Statements end with a semicolon; each may run again. Parameters: none. Columns: none.
CREATE CONSTRAINT free_run_id IF NOT EXISTS FOR (f:FreeRun) REQUIRE f.id IS UNIQUE;
CREATE INDEX free_run_model IF NOT EXISTS FOR (f:FreeRun) ON (f.model);
