// The schema: constraints, indexes, then the stamp, which makes an empty database ours.
// Statements end with a semicolon; each may run again. Parameters: none. Columns: none.
CREATE CONSTRAINT technique_id IF NOT EXISTS FOR (t:Technique) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_id IF NOT EXISTS FOR (t:Trajectory) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_ref IF NOT EXISTS FOR (t:Trajectory) REQUIRE t.ref IS UNIQUE;
CREATE CONSTRAINT transition_id IF NOT EXISTS FOR ()-[r:TRANSITION]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT next_id IF NOT EXISTS FOR ()-[n:NEXT]-() REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT steps_id IF NOT EXISTS FOR (s:Steps) REQUIRE s.id IS UNIQUE;
CREATE CONSTRAINT failure_id IF NOT EXISTS FOR (f:Failure) REQUIRE f.id IS UNIQUE;
CREATE CONSTRAINT transform_id IF NOT EXISTS FOR (x:Transform) REQUIRE x.id IS UNIQUE;
CREATE CONSTRAINT meta_product IF NOT EXISTS FOR (m:Meta) REQUIRE m.product IS UNIQUE;
CREATE INDEX trajectory_problem IF NOT EXISTS FOR (t:Trajectory) ON (t.problem);
CREATE INDEX failure_pair IF NOT EXISTS FOR (f:Failure) ON (f.pair);

MERGE (m:Meta {product: 'regraph-kg'})
  ON CREATE SET m.schema_version = 3
WITH m
UNWIND ['cuda', 'openmp'] AS target
MERGE (t:Technique {id: target + '/start'})
  ON CREATE SET t.name = 'serial code', t.target = target, t.definition = '', t.applies = '',
                t.aliases = [], t.replaces = [], t.review = false, t.created = '';
