// What each problem has in the statistics, and what an example gained on each device.
// Version 4. Statements end with a semicolon; each may run again. Parameters: none. Columns: none.
// Examples' effects, and what is derived, are made by the program when these are through.
CREATE CONSTRAINT share_id IF NOT EXISTS FOR (s:Share) REQUIRE s.id IS UNIQUE;
CREATE INDEX share_problem IF NOT EXISTS FOR (s:Share) ON (s.problem, s.source);
CREATE INDEX share_pair IF NOT EXISTS FOR (s:Share) ON (s.pair);
