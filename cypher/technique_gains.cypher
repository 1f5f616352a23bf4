// Each technique's gain on each device after any other technique; most tried first.
// Flat in the number of examples.
// Parameters: limit.
// Columns: target, device, examples, tried, verified, sum_log2_effect, best_effect.
MATCH (:Technique)-[n:NEXT]->(d:Technique)
WHERE n.tried > 0
WITH d.id AS target, n.device AS device, sum(n.examples) AS examples, sum(n.tried) AS tried,
     sum(n.verified) AS verified, sum(n.sum_log2_effect) AS sum_log2_effect,
     max(n.best_effect) AS best_effect
RETURN target, device, examples, tried, verified, sum_log2_effect, best_effect
ORDER BY tried DESC, target, device
LIMIT $limit
