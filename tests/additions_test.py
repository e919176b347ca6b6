"""Makes additions in a copy of the package, counts the files that each touches, and uses what was added."""

import ast
import json
import math
import os
import pathlib
import re
import shutil

import pytest

from tests.fresh_process import run_python

REPOSITORY = pathlib.Path(__file__).parents[1]
CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
KIND, BACKBONE, HEADS = "copied_lm", "copied_transformer", "copied_heads"


@pytest.fixture
def tree(tmp_path) -> pathlib.Path:
    """A copy of the package."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "firth", tmp_path / "firth", ignore=ignored)
    return tmp_path / "firth"


def changed(tree: pathlib.Path) -> list[str]:
    """The files of a copy that the package has not, or has with another content."""
    found = []
    for path in sorted(each for each in tree.rglob("*") if each.is_file() and each.suffix != ".pyc"):
        original = REPOSITORY / "firth" / path.relative_to(tree)
        if not original.exists() or original.read_bytes() != path.read_bytes():
            found.append(str(path.relative_to(tree)))
    return found


def replace(path: pathlib.Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def class_of(text: str, name: str) -> str:
    """The source of a class."""
    (node,) = (each for each in ast.parse(text).body if getattr(each, "name", "") == name)
    return "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])


def renamed(text: str) -> str:
    return text.replace("MaskedLM", "CopiedLM").replace("masked_lm_rates", "copied_rates")


def add_objective(tree: pathlib.Path) -> None:
    """A copy of masked LM under another name: its type, its file, one line of the table."""
    types = tree / "recipes" / "objectives" / "masking.py"
    text = types.read_text(encoding="utf-8")
    copied = renamed(class_of(text, "MaskedLM")).replace('"masked_lm"', f'"{KIND}"')
    replace(types, "AnyMasking = ", f"{copied}\n\n\nAnyMasking = CopiedLM | ")
    own = tree / "objectives" / f"{KIND}.py"
    source = (tree / "objectives" / "masked_lm.py").read_text(encoding="utf-8")
    own.write_text(
        renamed(source).replace("import copied_rates", "import masked_lm_rates as copied_rates"),
        encoding="utf-8",
    )
    table = tree / "objectives" / "objective_kinds.py"
    line = f'    "{KIND}": CopiedLMObjective,\n'
    replace(table, '    "masked_lm": MaskedLMObjective,\n', f'    "masked_lm": MaskedLMObjective,\n{line}')
    first = "from firth.objectives.bidirectional_lm"
    replace(table, first, f"from firth.objectives.{KIND} import CopiedLMObjective\n{first}")


def add_backbone(tree: pathlib.Path) -> None:
    """A copy of the masked transformer under another name: its type, its file, one line of the table."""

    def named(text: str) -> str:
        return text.replace("MaskedTransformerConfig", "CopiedTransformerConfig").replace(
            "MaskedTransformerBackbone", "CopiedTransformerBackbone"
        )

    types = tree / "recipes" / "models" / "transformers.py"
    copied = named(class_of(types.read_text(encoding="utf-8"), "MaskedTransformerConfig"))
    copied = copied.replace('"masked_transformer"', f'"{BACKBONE}"')
    replace(types, "AnyTransformer = ", f"{copied}\n\n\nAnyTransformer = CopiedTransformerConfig | ")
    source = named((tree / "models" / "backbones" / "masked_transformer.py").read_text(encoding="utf-8"))
    (tree / "models" / "backbones" / f"{BACKBONE}.py").write_text(source, encoding="utf-8")
    table = tree / "models" / "model_kinds.py"
    line = '    "masked_transformer": MaskedTransformerBackbone,\n'
    replace(table, line, f'{line}    "{BACKBONE}": CopiedTransformerBackbone,\n')
    first = "from firth.models.backbones.encoder_decoder"
    replace(table, first, f"from firth.models.backbones.{BACKBONE} import CopiedTransformerBackbone\n{first}")


def add_heads(tree: pathlib.Path) -> None:
    """A copy of masked LM's heads under another name: their counts, their file, one line of the table."""
    counts = tree / "recipes" / "counting" / "heads.py"
    copied = class_of(counts.read_text(encoding="utf-8"), "MaskedLMHeadCounts")
    copied = copied.replace("MaskedLMHeadCounts", "CopiedHeadCounts")
    mark = "# By `Goal.heads`.\n"
    replace(counts, mark, f"{copied}\n\n\n{mark}")
    line = '    "masked_lm": MaskedLMHeadCounts,\n'
    replace(counts, line, f'{line}    "{HEADS}": CopiedHeadCounts,\n')
    source = (tree / "models" / "objective_heads" / "masked_lm.py").read_text(encoding="utf-8")
    (tree / "models" / "objective_heads" / f"{HEADS}.py").write_text(
        source.replace("MaskedLMHeads", "CopiedHeads"), encoding="utf-8"
    )
    table = tree / "models" / "model_kinds.py"
    line = '    "masked_lm": MaskedLMHeads,\n'
    replace(table, line, f'{line}    "{HEADS}": CopiedHeads,\n')
    first = "from firth.models.backbones.encoder_decoder"
    replace(table, first, f"from firth.models.objective_heads.{HEADS} import CopiedHeads\n{first}")


def use_heads(tree: pathlib.Path) -> None:
    """The added objective names the added heads."""
    types = tree / "recipes" / "objectives" / "masking.py"
    kind = f'    kind: Literal["{KIND}"]'
    replace(types, kind, f'    heads: ClassVar[str] = "{HEADS}"\n\n{kind}')


def add_signature(tree: pathlib.Path) -> None:
    """A signature that answers as `embed` does: its file, one line of the table."""
    (tree / "serving" / "copied_signature.py").write_text(
        "from firth.serving.embeddings import OUTPUTS, embed\n"
        "from firth.serving.signature import Answer, Signature\n\n\n"
        "def offer(recipe):\n"
        "    answer = Answer({'embedding': 'copy'}, lines='{{ copy | length }} values')\n"
        "    return Signature(copied, OUTPUTS, example={'text': 'Copied.'}, answer=answer)\n\n\n"
        "def copied(served, text):\n"
        "    return embed(served, text)\n",
        encoding="utf-8",
    )
    table = tree / "serving" / "signatures.py"
    last = '    "embed_tokens": embeddings.offer_tokens,\n'
    replace(table, last, f'{last}    "copied": copied_signature.offer,\n')
    replace(table, "continuation, embeddings,", "continuation, copied_signature, embeddings,")


def add_tokenizer(tree: pathlib.Path) -> None:
    """A copy of WordPiece under another name: its type, its file, one line of the table."""
    types = tree / "recipes" / "tokenizers" / "tokenizer.py"
    copied = class_of(types.read_text(encoding="utf-8"), "WordPieceTokenizerConfig")
    copied = copied.replace("WordPieceTokenizer", "CopiedTokenizer").replace('"wordpiece"', '"copied"')
    replace(
        types,
        "AnyTokenizerConfig = Annotated[\n",
        f"{copied}\n\n\nAnyTokenizerConfig = Annotated[\n    CopiedTokenizerConfig |\n",
    )
    source = (tree / "tokenizers" / "word_piece.py").read_text(encoding="utf-8")
    source = source.replace("WordPieceTokenizer", "CopiedTokenizer").replace('"wordpiece"', '"copied"')
    (tree / "tokenizers" / "copied.py").write_text(source, encoding="utf-8")
    table = tree / "tokenizers" / "tokenizer_kinds.py"
    first = "from firth.tokenizers.sentence_piece"
    replace(table, first, f"from firth.tokenizers.copied import CopiedTokenizer\n{first}")
    replace(
        table,
        '    "words": WordTokenizer,\n',
        '    "words": WordTokenizer,\n    "copied": CopiedTokenizer,\n',
    )


def add_source(tree: pathlib.Path) -> None:
    """A copy of the JSONL source under another name: its type, its reader, one line of the table."""
    types = tree / "recipes" / "corpus" / "sources.py"
    copied = class_of(types.read_text(encoding="utf-8"), "JsonlSource")
    copied = copied.replace("JsonlSource", "CopiedSource").replace('"jsonl"', '"copied"')
    copied = copied.replace('".jsonl"', '".copied"')
    replace(types, "AnySource = Annotated[\n", f"{copied}\n\n\nAnySource = Annotated[\n    CopiedSource |\n")
    source = (tree / "corpus" / "readers" / "jsonl_source.py").read_text(encoding="utf-8")
    source = source.replace("JsonlSource", "CopiedSource").replace("read_jsonl", "read_copied")
    (tree / "corpus" / "readers" / "copied_source.py").write_text(source, encoding="utf-8")
    table = tree / "corpus" / "readers" / "sources.py"
    line = '    "jsonl": Reader(_match, read_jsonl),\n'
    replace(table, line, f'{line}    "copied": Reader(_match, read_copied),\n')
    first = "from firth.corpus.readers.docstrings_source"
    replace(table, first, f"from firth.corpus.readers.copied_source import read_copied\n{first}")


def add_step(tree: pathlib.Path) -> None:
    """A copy of the step on lengths: its type, its file, one line of the table."""
    types = tree / "recipes" / "corpus" / "filters.py"
    text = (tree / "recipes" / "corpus" / "cleaning.py").read_text(encoding="utf-8")
    copied = class_of(text, "LengthStep").replace("LengthStep", "CopiedStep").replace('"length"', '"copied"')
    replace(types, "FilterStep = ", f"{copied}\n\n\nFilterStep = CopiedStep | ")
    source = (tree / "corpus" / "filters" / "length.py").read_text(encoding="utf-8")
    source = source.replace("corpus.cleaning import LengthStep", "corpus.filters import CopiedStep")
    source = source.replace("LengthStep", "CopiedStep").replace("class Length", "class Copied")
    (tree / "corpus" / "filters" / "copied.py").write_text(source, encoding="utf-8")
    table = tree / "corpus" / "curation" / "step_table.py"
    first = "from firth.corpus.filters.fineweb"
    replace(table, first, f"from firth.corpus.filters.copied import Copied\n{first}")
    replace(table, '    "length": Length,\n', '    "length": Length,\n    "copied": Copied,\n')


def stated(row: str) -> int:
    """The number of files that CONTRIBUTING's table states for an addition."""
    return int(re.search(rf"^\| {row} \| (\d+) \|", CONTRIBUTING, flags=re.MULTILINE).group(1))


def test_an_objective_touches_its_type_its_file_its_test_and_one_table(tree):
    add_objective(tree)
    touched = changed(tree)
    assert touched == [
        f"objectives/{KIND}.py",
        "objectives/objective_kinds.py",
        "recipes/objectives/masking.py",
    ]
    assert len(touched) + 1 == stated("Objective")


def test_a_backbone_touches_its_type_its_file_its_test_and_one_table(tree):
    add_backbone(tree)
    touched = changed(tree)
    assert touched == [
        f"models/backbones/{BACKBONE}.py",
        "models/model_kinds.py",
        "recipes/models/transformers.py",
    ]
    assert len(touched) + 1 == stated("Backbone")


def test_heads_touch_their_counts_their_file_their_test_and_one_table(tree):
    add_heads(tree)
    touched = changed(tree)
    assert touched == [
        "models/model_kinds.py",
        f"models/objective_heads/{HEADS}.py",
        "recipes/counting/heads.py",
    ]
    assert len(touched) + 1 == stated("Heads")


def test_a_signature_touches_its_file_its_test_and_one_table(tree):
    add_signature(tree)
    touched = changed(tree)
    assert touched == ["serving/copied_signature.py", "serving/signatures.py"]
    assert len(touched) + 1 == stated("Signature")


def test_a_tokenizer_kind_touches_its_type_its_file_its_test_and_one_table(tree):
    add_tokenizer(tree)
    touched = changed(tree)
    assert touched == [
        "recipes/tokenizers/tokenizer.py",
        "tokenizers/copied.py",
        "tokenizers/tokenizer_kinds.py",
    ]
    assert len(touched) + 1 == stated("Tokenizer kind")


def test_a_source_touches_its_type_its_reader_its_test_and_one_table(tree):
    add_source(tree)
    touched = changed(tree)
    assert touched == [
        "corpus/readers/copied_source.py",
        "corpus/readers/sources.py",
        "recipes/corpus/sources.py",
    ]
    assert len(touched) + 1 == stated("Source")


def test_a_cleaning_step_touches_its_type_its_file_its_test_and_one_table(tree):
    add_step(tree)
    touched = changed(tree)
    assert touched == [
        "corpus/curation/step_table.py",
        "corpus/filters/copied.py",
        "recipes/corpus/filters.py",
    ]
    assert len(touched) + 1 == stated("Cleaning step")


def test_a_component_touches_its_file_its_test_the_stub_and_one_pipeline():
    package = REPOSITORY / "firth"
    marks = {".py": "ObjectiveValidator(", ".pyi": "ObjectiveValidator"}
    naming = {
        path
        for path in package.rglob("*.py*")
        if path.suffix in marks and marks[path.suffix] in path.read_text(encoding="utf-8")
    }
    touched = naming | {package / "components" / "objective_validator.py"}
    assert sorted(str(path.relative_to(package)) for path in touched) == [
        "components/__init__.pyi",
        "components/objective_validator.py",
        "pipelines/pretrain.py",
    ]
    assert len(touched) + 1 == stated("Component")


@pytest.mark.repeated
def test_an_added_objective_is_trained_exported_served_evaluated_and_reported(tree, tmp_path):
    of_models = (add_objective, add_backbone, add_heads, use_heads, add_signature)
    for add in (*of_models, add_source, add_step, add_tokenizer):
        add(tree)
    # The copy comes before the package itself; `tests` are the repository's.
    paths = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
    # As a module: next to a script, `tests/tokenizers` would be taken for the library of that name.
    done = run_python(
        ["-m", "tests.added_objective", KIND, BACKBONE, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    made = json.loads(done.stdout.splitlines()[-1])
    assert made["rates"] == KIND
    assert made["built"] == ["CopiedTransformerBackbone", "CopiedHeads"] and made["loaded"] == made["built"]
    assert made["held"] == made["counts"][0] > 0
    assert made["asked"] == ["fill-mask 'The [MASK] of the house.'", "embed 'A sentence.'", "copied Copied."]
    assert made["read"] == ["one two three"]
    assert made["cleaned"] == [False, True] and made["pieces"] == ["thes"]
    assert made["copied"] == [["copy", "truncated", "tokens_read", "tokens_given"], ["16 values"]]
    assert made["line"].startswith("held-out masked LM perplexity")
    assert math.isfinite(made["metrics"]["text_perplexity"]) and "nsp_accuracy" in made["metrics"]
    assert made["masks"] == 1 and made["drawn"] >= 2 and made["cases"] > 20
    assert made["counts"][1] > 0 and made["flops"] > 0
