// Every transform. Parameters: none. Columns: transform (map), ordered by id.
MATCH (x:Transform)
RETURN properties(x) AS transform
ORDER BY x.id
