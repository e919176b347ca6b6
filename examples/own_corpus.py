"""Cleans a small corpus of one's own, text files and JSON lines, and prints what became of each document.

    python examples/own_corpus.py

The texts are docstrings of the standard library, with e-mail addresses put among them.
"""

import argparse
import email
import inspect
import json
import pathlib
import tempfile
import unittest

from firth.recipes import load_recipe

RECIPE = """\
name: own_corpus
extends: bert_tiny
sources:
  - {kind: text, name: modules, paths: [modules/*.txt]}
  - {kind: jsonl, name: classes, paths: [classes.jsonl], text_key: body, id_key: name}
cleaning:
  steps:
    - {kind: normalize}
    - {kind: length, min_words: 10}
    - {kind: exact_duplicates}
    - {kind: pii}
  limits: {max_dropped_fraction: 0.9, max_rejected_fraction: 0.1}
"""


def write_corpus(folder: pathlib.Path) -> pathlib.Path:
    """Writes the files of a corpus, and a recipe that reads them; returns the recipe's path.

    Args:
        folder: An empty folder.
    """
    (folder / "modules").mkdir()
    for module in (argparse, email, inspect, json, tempfile, unittest):
        text = f"{module.__doc__}\nWrite to ann@mail.firth-docs.org.\n"
        (folder / "modules" / f"{module.__name__}.txt").write_text(text)
    members = [*vars(argparse).values(), *vars(unittest).values()]
    classes = [each for each in members if inspect.isclass(each)]
    with open(folder / "classes.jsonl", "w", encoding="utf-8") as file:
        for each in classes:
            file.write(json.dumps({"name": each.__qualname__, "body": inspect.getdoc(each) or ""}) + "\n")
        file.write('{"name": "broken", "body": \n')
    (folder / "own_corpus.yaml").write_text(RECIPE)
    return folder / "own_corpus.yaml"


def main() -> None:
    """Writes the corpus, cleans it, and prints the funnel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default="firth-runs", help="folder of all runs")
    root = parser.parse_args().root
    # Imported here, since TFX takes a while.
    from firth.pipelines import local

    with tempfile.TemporaryDirectory() as folder:
        recipe = load_recipe(str(write_corpus(pathlib.Path(folder))))
        result = local.curate(recipe, root, local.RunOptions(reuse_folder=True))
    report = json.loads((result.outputs["Curator"]["report"] / "corpus_report.json").read_text())
    for row in report["funnel"]:
        print(
            f"{row['step']:17} {row['source']:8} {row['documents_in']:3} in, {row['documents_kept']:3} kept"
        )
        for fate in ("dropped", "rejected"):
            for reason, lost in row[fate].items():
                print(f"    {lost['documents']} {fate}: {reason}")
    for row in report["counts"]:
        print(f"{row['step']:17} {row['source']:8} {row['name']}: {row['count']}")
    print(f"The page: {result.run_dir / 'corpus_report.html'}")


if __name__ == "__main__":
    main()
