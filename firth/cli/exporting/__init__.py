"""Models as they are exported for servers, by the command."""
