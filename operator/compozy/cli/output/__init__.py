"""What is shown to people: tables, text without control characters, JSON and YAML."""
