// Add to the statistics: one NEXT per pair, device and learner (null:
// what was given). last_seen is set first because it takes the
// relationship's lock: the sums that follow are read under it. Most rows count no failure, and nothing declined: those
// leave these counts alone, which are absent as long as they are zero.
// Parameters: now, rows [{source, target, device, learner, id, rare, best_effect, <count>...}], sorted by
// pair and device. Columns: written.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
MERGE (s)-[n:NEXT {id: row.id}]->(d)
  ON CREATE SET n.device = row.device, n.learner = row.learner
SET n.last_seen = $now
WITH n, row
SET n.examples = coalesce(n.examples, 0) + row.examples,
    n.tried = coalesce(n.tried, 0) + row.tried,
    n.verified = coalesce(n.verified, 0) + row.verified,
    n.verified_first = coalesce(n.verified_first, 0) + row.verified_first,
    n.sum_log2_effect = coalesce(n.sum_log2_effect, 0) + row.sum_log2_effect,
    n.sum_sq_log2_effect = coalesce(n.sum_sq_log2_effect, 0) + row.sum_sq_log2_effect,
    n.best_effect = CASE WHEN n.best_effect IS NULL OR row.best_effect > n.best_effect
                         THEN row.best_effect ELSE n.best_effect END
FOREACH (_ IN CASE WHEN row.rare THEN [1] ELSE [] END |
  SET n.failed_parse_failed = coalesce(n.failed_parse_failed, 0) + row.failed_parse_failed,
      n.failed_rejected_source =
        coalesce(n.failed_rejected_source, 0) + row.failed_rejected_source,
      n.failed_compile_failed = coalesce(n.failed_compile_failed, 0) + row.failed_compile_failed,
      n.failed_crashed = coalesce(n.failed_crashed, 0) + row.failed_crashed,
      n.failed_timed_out = coalesce(n.failed_timed_out, 0) + row.failed_timed_out,
      n.failed_wrong_answer = coalesce(n.failed_wrong_answer, 0) + row.failed_wrong_answer,
      n.failed_mutated_input = coalesce(n.failed_mutated_input, 0) + row.failed_mutated_input,
      n.failed_nondeterministic =
        coalesce(n.failed_nondeterministic, 0) + row.failed_nondeterministic,
      n.failed_suspicious = coalesce(n.failed_suspicious, 0) + row.failed_suspicious,
      n.failed_unstable_timing =
        coalesce(n.failed_unstable_timing, 0) + row.failed_unstable_timing,
      n.declined = coalesce(n.declined, 0) + row.declined)
RETURN count(*) AS written
