"""Graph and judge for coding agents, behind the Model Context Protocol (MCP)."""
