// Set the labels by which Neo4j Browser colours techniques: initial states, and families. The
// transaction must have the techniques' locks.
// Parameters: ids, sorted. Columns: none.
UNWIND $ids AS id
MATCH (t:Technique {id: id})
REMOVE t:Memory:Transfers:Parallelism:Sharing:Vectors:Loops
FOREACH (_ IN CASE WHEN t.id ENDS WITH '/start' THEN [1] ELSE [] END | SET t:Start)
FOREACH (_ IN CASE t.family WHEN 'memory' THEN [1] ELSE [] END | SET t:Memory)
FOREACH (_ IN CASE t.family WHEN 'transfers' THEN [1] ELSE [] END | SET t:Transfers)
FOREACH (_ IN CASE t.family WHEN 'parallelism' THEN [1] ELSE [] END | SET t:Parallelism)
FOREACH (_ IN CASE t.family WHEN 'sharing' THEN [1] ELSE [] END | SET t:Sharing)
FOREACH (_ IN CASE t.family WHEN 'vectors' THEN [1] ELSE [] END | SET t:Vectors)
FOREACH (_ IN CASE t.family WHEN 'loops' THEN [1] ELSE [] END | SET t:Loops)
