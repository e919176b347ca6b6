"""`python -m scripts.lint`: prints a line for each fault in the sources, and exits with 1 if there is one."""

import pathlib
import sys

from scripts.lint.runner import main

sys.exit(main(pathlib.Path.cwd()))
