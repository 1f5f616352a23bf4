// 08 Vocabulary
// Every technique of a target: how much is known of it, and what a curator should look at.
// Parameters: target
// :param target => 'cuda'
// Columns: technique, id, examples, steps to it, steps from it, other names, look at, definition
MATCH (t:Technique {target: $target})
WITH t,
     COUNT { MATCH (s)-[:NEXT]->(t) RETURN DISTINCT s } AS sources,
     COUNT { MATCH (t)-[:NEXT]->(d) RETURN DISTINCT d } AS successors,
     reduce(sum = 0, n IN COLLECT { MATCH ()-[n:NEXT]->(t) RETURN n.examples } | sum + n) AS examples
RETURN t.name AS technique,
       t.id AS id,
       examples,
       sources AS `steps to it`,
       successors AS `steps from it`,
       t.aliases AS `other names`,
       CASE
         WHEN t.id ENDS WITH '/start' THEN ''
         WHEN t.review THEN 'new: needs review'
         WHEN t.definition = '' THEN 'no definition'
         WHEN examples = 0 THEN 'never seen'
         ELSE ''
       END AS `look at`,
       t.definition AS definition
ORDER BY examples DESC, id
LIMIT 500
