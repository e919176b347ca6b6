"""The workers of `benchmarks.models`: firth and its peers, each in a process of its own."""
