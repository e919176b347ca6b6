"""The subcommand that asks a model, about texts and about files of them."""
