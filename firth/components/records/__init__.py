"""Components on labelled records: they read, check, pack and report them, and answer files of requests."""
