// 08 Vocabulary
// Every technique of a target: how much is known of it, and what a person should look at.
// Parameters: target
// :param target => 'cuda'
// Columns: technique, examples, steps to it, steps from it, look at, definition, other names, id
MATCH (t:Technique {target: $target})
WITH t,
     COUNT { MATCH (s)-[:NEXT]->(t) RETURN DISTINCT s } AS sources,
     COUNT { MATCH (t)-[:NEXT]->(d) RETURN DISTINCT d } AS successors,
     reduce(sum = 0, n IN COLLECT { MATCH ()-[n:NEXT]->(t) RETURN n.examples } | sum + n) AS examples
RETURN t.name AS technique,
       examples,
       sources AS `steps to it`,
       successors AS `steps from it`,
       CASE
         WHEN t.id ENDS WITH '/start' THEN ''
         WHEN t.review THEN 'new: needs review'
         WHEN t.definition = '' THEN 'no definition'
         WHEN examples = 0 THEN 'never seen'
         ELSE ''
       END AS `look at`,
       t.definition AS definition,
       t.aliases AS `other names`,
       t.id AS id
ORDER BY examples DESC, id
LIMIT 500
