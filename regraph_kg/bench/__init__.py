"""`regraph bench`: suites of problems, searched by several arms, measured and compared."""
