// What only the embedded store's own process can do, in its SQL: runs at every start; the function does
// for Bolt clients what the store's Cypher has no statement for. Parameters: none. Columns: none.
CREATE EDGE TYPE TRANSITION IF NOT EXISTS;
DEFINE FUNCTION regraph.trajectories_after "SELECT list(id) AS ids FROM (SELECT id FROM Trajectory WHERE id > :lower ORDER BY id LIMIT :most)" PARAMETERS [lower, most] LANGUAGE sql;
