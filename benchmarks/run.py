"""Runs every benchmark in turn, each in a process of its own, and keeps the figures as JSON.

python -m benchmarks.run                      # all of them
python -m benchmarks.run tokenization models  # some
python -m benchmarks.run --output figures/    # where the JSON goes
"""

import argparse
import pathlib
import subprocess
import sys

BENCHMARKS = (
    "tokenization",
    "html",
    "corpus",
    "corpus_stages",
    "corpus_size",
    "attention",
    "lstm",
    "models",
    "learning",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all if none")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/benchmarks"))
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in arguments.names or BENCHMARKS:
        print(f"== {name}", flush=True)
        figures = arguments.output / f"{name}.json"
        command = [sys.executable, "-m", f"benchmarks.{name}", "--json", str(figures)]
        failed += subprocess.run(command).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
