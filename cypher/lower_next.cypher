// The best effects of statistics, where one is not what it was; a null removes it.
// Parameters: rows [{source, target, id, best_effect, best_problem, best_other}]. Columns: none.
UNWIND $rows AS row
MATCH (:Technique {id: row.source})-[n:NEXT {id: row.id}]->(:Technique {id: row.target})
SET n.best_effect = row.best_effect, n.best_problem = row.best_problem,
    n.best_other = row.best_other
