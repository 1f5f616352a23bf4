// 10 Names taken by a model
// Labels that a model took for a technique, or in older graphs a rule ("lexical"), the most frequent first: is that what they mean?
// A name that is right becomes an alias in techniques.json; see regraph docs curation.
// Parameters: none
// Columns: label, taken for, by (stage), steps, models, example (its id)
MATCH (k:Steps)
MATCH (t:Trajectory {id: k.id})
UNWIND range(1, size(k.labels)) AS step
WITH t, step, k.labels[step - 1] AS label, k.stages[step - 1] AS by
WHERE by IN ['lexical', 'model']
RETURN label,
       t.path[step] AS `taken for`,
       by,
       count(*) AS steps,
       collect(DISTINCT t.model) AS models,
       head(collect(t.id + '/' + toString(step))) AS example
ORDER BY steps DESC, label, `taken for`
LIMIT 100
