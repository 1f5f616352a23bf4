// What one problem's trajectories contribute to the NEXT rows out of techniques whose ids begin with
// `source`, for a search to leave out. Parameters: problem, source.
// Columns: counted ("source target", device and kind, tabs between), learner, and the sums.
MATCH (t:Trajectory {problem: $problem})
UNWIND range(0, size(t.counted) - 1) AS i
WITH t, i
WHERE t.counted[i] STARTS WITH $source
RETURN t.counted[i] AS counted, t.learner AS learner,
       sum(t.counted_examples[i]) AS examples,
       sum(t.counted_tried[i]) AS tried,
       sum(t.counted_verified[i]) AS verified,
       sum(t.counted_sum_log2_effect[i]) AS sum_log2_effect
