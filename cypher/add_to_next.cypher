// Add to the statistics: one NEXT per pair, device and learner (null:
// what was given). last_seen is set first because it takes the
// relationship's lock: the sums that follow are read under it. Most rows count no failure, and nothing declined: those
// leave these counts alone, which are absent as long as they are zero. Of the two best effects the
// larger stays, of equals that of the problem that is first by name; the other one, if another
// problem's, may be the best of all others. gain and tries are for eyes. written and checksum: see
// backends/written.py.
// Parameters: now, rows [{source, target, device, learner, id, rare, best_effect, best_problem,
// best_other, writers, <count>...}], sorted by pair and device. Columns: id, tick.
UNWIND $rows AS row
MATCH (s:Technique {id: row.source}), (d:Technique {id: row.target})
MERGE (s)-[n:NEXT {id: row.id}]->(d)
  ON CREATE SET n.device = row.device, n.learner = row.learner
SET n.last_seen = $now
WITH n, row,
     n.best_problem = row.best_problem AS same,
     n.best_effect IS NULL OR row.best_effect > n.best_effect
       OR (row.best_effect = n.best_effect AND row.best_problem < n.best_problem) AS better
WITH n, row, better,
     CASE WHEN better THEN row.best_other ELSE n.best_other END AS one,
     CASE WHEN same AND better THEN n.best_other WHEN same THEN row.best_other
          WHEN better THEN n.best_effect ELSE row.best_effect END AS two
SET n.best_other = CASE WHEN one IS NULL OR two > one THEN two ELSE one END
FOREACH (_ IN CASE WHEN better THEN [1] ELSE [] END |
  SET n.best_effect = row.best_effect, n.best_problem = row.best_problem)
SET n.examples = coalesce(n.examples, 0) + row.examples,
    n.tried = coalesce(n.tried, 0) + row.tried,
    n.verified = coalesce(n.verified, 0) + row.verified,
    n.verified_first = coalesce(n.verified_first, 0) + row.verified_first,
    n.sum_log2_effect = coalesce(n.sum_log2_effect, 0) + row.sum_log2_effect,
    n.sum_sq_log2_effect = coalesce(n.sum_sq_log2_effect, 0) + row.sum_sq_log2_effect
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
      n.failed_no_kernel = coalesce(n.failed_no_kernel, 0) + row.failed_no_kernel,
      n.failed_unstable_timing =
        coalesce(n.failed_unstable_timing, 0) + row.failed_unstable_timing,
      n.declined = coalesce(n.declined, 0) + row.declined)
SET n.tries = toString(n.verified) + ' of ' + toString(n.tried),
    n.gain = CASE WHEN n.verified > 0 THEN
      round(exp(log(2.0) * n.sum_log2_effect / n.verified / 1048576),
            CASE WHEN n.sum_log2_effect < 3 * 1048576 * n.verified THEN 2 ELSE 1 END) END
WITH n, row, coalesce(n.written[0], 0) + 1 AS tick,
     coalesce(n.best_effect, 0.0) AS best, coalesce(n.best_other, 0.0) AS other
SET n.written = [tick] + row.writers,
    n.checksum = 15485863 * tick
      + 32452843 * n.examples + 49979687 * n.tried + 67867967 * n.verified
      + 86028121 * coalesce(n.declined, 0) + 7 * n.sum_log2_effect
      + 1299709 * toInteger(1048576.0 * CASE WHEN best < 65536.0 THEN best ELSE 65536.0 END)
      + 2750159 * toInteger(1048576.0 * CASE WHEN other < 65536.0 THEN other ELSE 65536.0 END)
RETURN row.id AS id, tick
