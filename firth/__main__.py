"""`python -m firth` is the `firth` command."""

from firth.cli.main import main

if __name__ == "__main__":
    main()
