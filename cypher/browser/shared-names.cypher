// 09 Shared names
// Names and aliases that two techniques of one target have: one of them should lose it, or both are one.
// Parameters: none
// Columns: name, target, techniques (their ids), steps (by which the steps of each are told)
MATCH (t:Technique)
UNWIND t.aliases + [t.name] AS name
WITH DISTINCT t, toLower(name) AS name
ORDER BY name, t.id
WITH name, t.target AS target, collect(t.id) AS techniques
WHERE size(techniques) > 1
RETURN name, target, techniques,
       [id IN techniques | COUNT { MATCH (:Technique)-[:TRANSITION]->(:Technique {id: id}) }]
         AS steps
LIMIT 100
