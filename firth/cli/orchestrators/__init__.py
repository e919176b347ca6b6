"""The subcommand that compiles pipelines for other orchestrators."""
