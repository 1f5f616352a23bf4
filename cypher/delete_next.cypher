// Delete the NEXT rows of pairs that count nothing any more.
// Parameters: rows [{source, target}], keep (NEXT ids). Columns: id, tick (the deed's own).
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT]->(:Technique {id: row.target})
WHERE NOT n.id IN $keep
WITH n, n.id AS id, coalesce(n.written[0], 0) + 1 AS tick
DELETE n
RETURN id, tick
