// 11 New techniques
// What an ingest found no technique for, by use: an entry for techniques.json, or another's alias.
// Parameters: none
// Columns: technique, examples, labels (of its steps), models, for instance (the code after a step), id
MATCH (t:Technique {review: true})
OPTIONAL MATCH (:Technique)-[x:TRANSITION]->(t)
WITH t, x
ORDER BY x.effect DESC, x.id
RETURN t.name AS technique,
       count(x) AS examples,
       collect(DISTINCT x.original_label)[..5] AS labels,
       collect(DISTINCT x.model) AS models,
       head(collect(x.after)) AS `for instance`,
       t.id AS id
ORDER BY examples DESC, id
LIMIT 100
