// The best effects of statistics, where one is not what it was; a null removes it. The checksum
// (backends/written.py) goes with them.
// Parameters: rows [{source, target, id, best_effect, best_problem, best_other}]. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT {id: row.id}]->(:Technique {id: row.target})
WITH n, row, coalesce(n.best_effect, 0.0) AS best, coalesce(n.best_other, 0.0) AS other,
     coalesce(row.best_effect, 0.0) AS new_best, coalesce(row.best_other, 0.0) AS new_other
SET n.best_effect = row.best_effect, n.best_problem = row.best_problem,
    n.best_other = row.best_other,
    n.checksum = n.checksum
      + 1299709 * (
        toInteger(1048576.0 * CASE WHEN new_best < 65536.0 THEN new_best ELSE 65536.0 END)
        - toInteger(1048576.0 * CASE WHEN best < 65536.0 THEN best ELSE 65536.0 END))
      + 2750159 * (
        toInteger(1048576.0 * CASE WHEN new_other < 65536.0 THEN new_other ELSE 65536.0 END)
        - toInteger(1048576.0 * CASE WHEN other < 65536.0 THEN other ELSE 65536.0 END))
