// The strongest pairs of techniques on each device. The order draws a mean of few measurements
// towards 1. Flat in the number of examples.
// Parameters: limit.
// Columns: source, target, device, examples, tried, verified, sum_log2_effect, best_effect.
MATCH (s:Technique)-[n:NEXT]->(d:Technique)
WHERE n.verified > 0
WITH s.id AS source, d.id AS target, n.device AS device, sum(n.examples) AS examples,
     sum(n.tried) AS tried, sum(n.verified) AS verified,
     sum(n.sum_log2_effect) AS sum_log2_effect, max(n.best_effect) AS best_effect
RETURN source, target, device, examples, tried, verified, sum_log2_effect, best_effect
ORDER BY 1.0 * sum_log2_effect / (verified + 1) DESC, source, target, device
LIMIT $limit
