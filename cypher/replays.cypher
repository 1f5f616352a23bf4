// The replays of accepted transforms. Parameters: none. Columns: technique, replays (JSON).
MATCH (x:Transform)
WHERE x.accepted AND x.replays <> '[]'
RETURN x.technique AS technique, x.replays AS replays
ORDER BY x.id
