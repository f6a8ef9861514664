"""Where a person is met: a terminal, an MCP client, an inbox."""
