"""Rules over the sources of firth that ruff and mypy do not have; `python -m scripts.lint` applies them."""
