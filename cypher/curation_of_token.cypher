// The curation that a call made; at most one.
// Parameters: token. Columns: number.
MATCH (d:Decision)
WHERE d.id STARTS WITH 'curation ' AND d.token = $token
RETURN d.number AS number
