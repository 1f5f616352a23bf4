// Constraints and indexes of schema version 1, one statement each; every one may run again.
// Parameters: none. Columns: none.
CREATE CONSTRAINT technique_id IF NOT EXISTS FOR (t:Technique) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_id IF NOT EXISTS FOR (t:Trajectory) REQUIRE t.id IS UNIQUE;
CREATE CONSTRAINT trajectory_ref IF NOT EXISTS FOR (t:Trajectory) REQUIRE t.ref IS UNIQUE;
CREATE CONSTRAINT transition_id IF NOT EXISTS FOR ()-[r:TRANSITION]-() REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT next_id IF NOT EXISTS FOR ()-[n:NEXT]-() REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT meta_product IF NOT EXISTS FOR (m:Meta) REQUIRE m.product IS UNIQUE;
CREATE INDEX trajectory_problem IF NOT EXISTS FOR (t:Trajectory) ON (t.problem);
CREATE INDEX transition_trajectory IF NOT EXISTS FOR ()-[r:TRANSITION]-() ON (r.trajectory);
