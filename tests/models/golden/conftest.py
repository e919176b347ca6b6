"""The script that makes the golden files needs torch, which the tests' environments do not have."""

collect_ignore = ["make_transformers_golden.py"]
