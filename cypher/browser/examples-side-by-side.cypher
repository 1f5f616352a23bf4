// 05 Examples side by side
// What a step did to real code: the best five examples of one transition, before and after.
// Parameters: source, technique
// :param source => 'cuda/start'
// :param technique => 'cuda/thread-per-element'
// Columns: problem, times faster (than the code before), before, after, why, how, device, model, example (its id)
MATCH (:Technique {id: $source})-[x:TRANSITION]->(:Technique {id: $technique})
WITH x
ORDER BY x.verified DESC, coalesce(x.effect, 0.0) DESC, x.id
LIMIT 5
RETURN x.problem AS problem,
       CASE WHEN x.verified THEN round(x.effect, 2) ELSE coalesce(x.outcome, 'unmeasured') END
         AS `times faster`,
       x.before AS before,
       x.after AS after,
       x.reasoning AS why,
       x.detail AS how,
       x.device AS device,
       x.model AS model,
       x.id AS example
