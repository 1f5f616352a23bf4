"""What coding agents may ask of graph and judge, behind the Model Context Protocol (MCP)."""
