"""Records of SST-2, RTE and WNLI for the tasks in this folder, whose licences do not let them be here.

Run it with the folder that has GLUE's own files, `SST-2/train.tsv` and so on:

    python examples/harness/glue/data.py GLUE
"""

import csv
import json
import pathlib
import sys

# The folder of each task, and the labels of its files in the order of their numbers.
TASKS = {
    "sst2": ("SST-2", ("0", "1")),
    "rte": ("RTE", ("entailment", "not_entailment")),
    "wnli": ("WNLI", ("0", "1")),
}
# Records that examples in a prompt are taken from, which are the first ones.
_EXAMPLES = 16


def records(path: pathlib.Path, labels: tuple[str, ...]) -> list[dict[str, str | int]]:
    """Returns the records of a file, with the numbers of their labels."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        {
            **{key: value.strip() for key, value in row.items() if key.startswith("sentence")},
            "label": labels.index(row["label"]),
        }
        for row in rows
    ]


def main(glue: pathlib.Path, target: pathlib.Path) -> None:
    """Writes the records as the tasks read them."""
    for task, (folder, labels) in TASKS.items():
        examples = records(glue / folder / "train.tsv", labels)[:_EXAMPLES]
        for name, rows in ((f"{task}_train", examples), (task, records(glue / folder / "dev.tsv", labels))):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (target / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent)
