// Set the statistics, whatever they were; gain and tries are for eyes.
// Parameters: now, rows [{source, target, device, learner, id, best_effect, best_problem, best_other,
// <count>...}], sorted by pair and device. Columns: written.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
MERGE (s)-[n:NEXT {id: row.id}]->(d)
  ON CREATE SET n.last_seen = $now
WITH n, row, n.last_seen AS last_seen
SET n = row
SET n.last_seen = last_seen,
    n.tries = toString(n.verified) + ' of ' + toString(n.tried),
    n.gain = CASE WHEN n.verified > 0 THEN
      round(exp(log(2.0) * n.sum_log2_effect / n.verified / 1048576),
            CASE WHEN n.sum_log2_effect < 3 * 1048576 * n.verified THEN 2 ELSE 1 END) END
REMOVE n.source, n.target, n.rare
RETURN count(*) AS written
