// Set the statistics, whatever they were; gain and tries are for eyes. written and checksum: see
// backends/written.py; the row's checksum lacks the tick.
// Parameters: now, rows [{source, target, device, learner, id, best_effect, best_problem, best_other,
// writers, checksum, <count>...}], sorted by pair and device. Columns: id, tick.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
MERGE (s)-[n:NEXT {id: row.id}]->(d)
  ON CREATE SET n.last_seen = $now
WITH n, row, n.last_seen AS last_seen, coalesce(n.written[0], 0) + 1 AS tick
SET n = row
SET n.last_seen = last_seen,
    n.written = [tick] + row.writers,
    n.checksum = row.checksum + 15485863 * tick,
    n.tries = toString(n.verified) + ' of ' + toString(n.tried),
    n.gain = CASE WHEN n.verified > 0 THEN
      round(exp(log(2.0) * n.sum_log2_effect / n.verified / 1048576),
            CASE WHEN n.sum_log2_effect < 3 * 1048576 * n.verified THEN 2 ELSE 1 END) END
REMOVE n.source, n.target, n.rare, n.writers
RETURN row.id AS id, tick
