// 09 Curations
// The curators' log, newest first: who merged, split, renamed what, why, and what was undone since.
// Parameters: none
// Columns: number, when (UTC), who, what, why, examples moved, undone by
MATCH (c:Decision)
WHERE c.kind <> 'relabel'
OPTIONAL MATCH (u:Decision)
WHERE u.undoes = c.number AND NOT EXISTS { MATCH (v:Decision) WHERE v.undoes = u.number }
RETURN c.number AS number,
       substring(replace(c.created, 'T', ' '), 0, 16) AS `when`,
       c.who AS who,
       c.summary AS what,
       c.why AS why,
       c.examples AS `examples moved`,
       max(u.number) AS `undone by`
ORDER BY number DESC
LIMIT 50
