// What an ingest has stored for some trajectories. Parameters: ids. Columns: properties.
MATCH (:Technique)-[r:TRANSITION]->(:Technique)
WHERE r.trajectory IN $ids
RETURN properties(r) AS properties
