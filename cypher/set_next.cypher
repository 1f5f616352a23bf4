// Set the statistics, whatever they were.
// Parameters: now, rows [{source, target, device, learner, id, best_effect, <count>...}], sorted by pair and
// device. Columns: written.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
MERGE (s)-[n:NEXT {id: row.id}]->(d)
  ON CREATE SET n.last_seen = $now
WITH n, row, n.last_seen AS last_seen
SET n = row
SET n.last_seen = last_seen
REMOVE n.source, n.target, n.rare
RETURN count(*) AS written
