// Techniques, transitions and their statistics: the first graph.
// Version 1. Statements end with a semicolon; each may run again. Parameters: none. Columns: none.
// The last one makes an empty database ours.
CREATE CONSTRAINT technique_id IF NOT EXISTS FOR (t:Technique) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_id IF NOT EXISTS FOR (t:Trajectory) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_ref IF NOT EXISTS FOR (t:Trajectory) REQUIRE t.ref IS UNIQUE;
CREATE CONSTRAINT transition_id IF NOT EXISTS FOR ()-[r:TRANSITION]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT next_id IF NOT EXISTS FOR ()-[n:NEXT]-() REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT meta_product IF NOT EXISTS FOR (m:Meta) REQUIRE m.product IS UNIQUE;
CREATE INDEX trajectory_problem IF NOT EXISTS FOR (t:Trajectory) ON (t.problem);

MERGE (m:Meta {product: 'regraph-kg'})
  ON CREATE SET m.schema_version = 1
WITH m
UNWIND ['cuda', 'openmp'] AS target
MERGE (t:Technique {id: target + '/start'})
  ON CREATE SET t.name = 'serial code', t.target = target, t.definition = '', t.applies = '',
                t.aliases = [], t.created = '';
