// Results of a model's free steps, device by device.
// Parameters: model, target, exclude_problem (null = none).
// Columns: device, and the sums.
MATCH (f:FreeRun {model: $model})
WHERE f.target = $target AND ($exclude_problem IS NULL OR f.problem <> $exclude_problem)
RETURN f.device AS device,
       sum(f.first_tried) AS first_tried,
       sum(f.first_verified) AS first_verified,
       sum(f.first_sum_log2_effect) AS first_sum_log2_effect,
       sum(f.later_tried) AS later_tried,
       sum(f.later_verified) AS later_verified,
       sum(f.later_sum_log2_effect) AS later_sum_log2_effect
ORDER BY device
