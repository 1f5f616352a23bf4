// Bounded edges with an archive, failures as evidence, a log of decisions, merged techniques.
// Version 2. Statements end with a semicolon; each may run again. Parameters: none. Columns: none.
// What is derived (NEXT, Edge, Failure) is rebuilt by the program when these are through.
CREATE CONSTRAINT archived_id IF NOT EXISTS FOR (a:Archived) REQUIRE a.id IS UNIQUE;
CREATE CONSTRAINT edge_id IF NOT EXISTS FOR (e:Edge) REQUIRE e.id IS UNIQUE;
CREATE CONSTRAINT failure_id IF NOT EXISTS FOR (f:Failure) REQUIRE f.id IS UNIQUE;
CREATE CONSTRAINT decision_id IF NOT EXISTS FOR (d:Decision) REQUIRE d.id IS UNIQUE;
CREATE INDEX archived_pair IF NOT EXISTS FOR (a:Archived) ON (a.pair);
CREATE INDEX failure_pair IF NOT EXISTS FOR (f:Failure) ON (f.pair);

// Trajectories' examples are found by ranges of their id now.
DROP INDEX transition_trajectory IF EXISTS;

// What an ingest had made for want of a known name has no definition, and a time.
MATCH (t:Technique)
SET t.review = coalesce(t.review, t.definition = '' AND t.created <> ''),
    t.replaces = coalesce(t.replaces, []),
    t.disowned = coalesce(t.disowned, []);

MATCH (m:Meta {product: 'regraph-kg'})
SET m.bound = coalesce(m.bound, 128);
