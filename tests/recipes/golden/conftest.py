"""The script that counts published models needs torch, which the tests' environments do not have."""

collect_ignore = ["make_published_counts.py"]
