"""The recipe of a run, and the checks that its parts fit together."""
