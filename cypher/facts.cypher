// Steps by technique: those that transforms make (facts), and the others (stories), with the known
// effects. Parameters: none. Columns: technique, is_fact, steps, effects; ordered.
MATCH (:Technique)-[r:TRANSITION]->(t:Technique)
WITH t.id AS technique, r.applied_by IS NOT NULL AS is_fact, r.effect AS effect
RETURN technique, is_fact, count(*) AS steps, collect(effect) AS effects
ORDER BY technique, is_fact
