"""A kind is asked for its facts, and never told apart from others outside of its table."""

import functools
import pathlib

import pytest

from tests.kinds_rule import tables_of, told_apart

PACKAGE = pathlib.Path(__file__).parents[1] / "firth"

# The one table by kind of each family, and of what else is called as kinds are.
TABLES = {
    "corpus/curation/step_table.py": "cleaning steps",
    "corpus/decontamination/benchmarks.py": "evaluation data that is kept out of a corpus",
    "corpus/outputs/output_table.py": "formats of a cleaned corpus",
    "corpus/readers/sources.py": "sources",
    "generation/samplers.py": "samplers of requests for a text",
    "interop/ctranslate2/decoding.py": "samplers that CTranslate2 has too",
    "interop/peft/kinds.py": "methods that peft has too",
    "layers/attention/building.py": "positions that attention reads",
    "layers/blocks/input_embedding.py": "positions that are added to embeddings, the other half",
    "models/additions/table.py": "methods whose additions do not merge",
    "models/tables.py": "models; and heads, some of which are called as objectives are",
    "objectives/table.py": "objectives",
    "recipes/counting/heads.py": "heads again, counted without Keras",
    "tasks/labelled/data_readers.py": "labelled data",
    "tasks/table.py": "tasks",
    "tokenizers/table.py": "tokenizers",
    "training/optimizers/table.py": "optimizers",
    "training/optimizers/schedules.py": "schedules of the learning rate",
    "tuning/table.py": "methods that adapt a model",
}
# No kinds: names that are also those of kinds.
NOT_KINDS = {"recipes/reading/families.py": "families of presets, two of which are called as objectives are"}


def kinds_told_apart(path: pathlib.Path, source: str) -> list[str]:
    """Returns what tells kinds apart in a file, next to its table if it holds one of `TABLES`."""
    place = path.relative_to(PACKAGE).as_posix()
    if place not in TABLES:
        return told_apart(source, _all_tables())
    found = told_apart(source, tables_of(source))
    return [each for each in found if not each.partition(": ")[2].startswith("{")]


@functools.cache
def _all_tables() -> dict[str, set[str]]:
    found = [tables_of((PACKAGE / place).read_text()) for place in TABLES]
    return {name: set().union(*(each.get(name, ()) for each in found)) for each in found for name in each}


def test_a_kind_is_asked_and_never_told_apart():
    """A kind states its facts on its own type: what compares kinds elsewhere is a second list of them."""
    found = {
        place: lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if (place := path.relative_to(PACKAGE).as_posix()) not in NOT_KINDS
        and (lines := kinds_told_apart(path, path.read_text()))
    }
    assert found == {}


@pytest.mark.parametrize("place", [*TABLES, *NOT_KINDS])
def test_what_may_list_kinds_does_so(place):
    assert told_apart((PACKAGE / place).read_text(), _all_tables())


KNOWN = {"BACKBONES": {"BiLSTMBackbone"}}


@pytest.mark.parametrize(
    "source",
    [
        # Comparisons.
        'recipe.objective.kind == "causal_lm"',
        'recipe.model.kind in ("bilstm", "t5")',
        'kind = recipe.model.kind\nif kind == "bilstm": ...',
        'shape = recipe.model.kind\nif shape != "bilstm": ...',
        'if (shape := model.kind) == "bilstm": ...',
        'a, b = name, model.kind\nb == "bilstm"',
        'def f(kind):\n    return kind in {"weights"}',
        'data["model"]["kind"] == "bilstm"',
        'data.get("kind") == "pii"',
        'getattr(step, "kind", None) == "pii"',
        'model.kind.startswith("bi")',
        "type(model) is BiLSTMConfig",
        'type(model).__name__ == "BiLSTMConfig"',
        'recipe.objective.heads == "language_model"',
        'recipe.model.architecture == "encoder"',
        'objective.model_architecture in ("encoder", "two_streams")',
        "type(model) in (models.BiLSTMConfig, models.EncoderDecoderConfig)",
        # Types, and bases that only some kinds have.
        "isinstance(objective, MaskedLM | UniLM)",
        "isinstance(tokenizer, WordTokenizerConfig)",
        "isinstance(backbone, BiLSTMBackbone)",
        "isinstance(model, model_types.BiLSTMConfig)",
        "isinstance(model, (model_types.BiLSTMConfig, int))",
        "isinstance(source, DocstringsSource)",
        "isinstance(source, RecordSource)",
        "isinstance(step, PiiStep)",
        "isinstance(mixture, AsIs)",
        "isinstance(optimizer, recipes.AdagradConfig)",
        "issubclass(config, TransformerConfig)",
        # Match statements.
        'match model.kind:\n    case "bilstm": ...',
        'match kind:\n    case "t5" | "bilstm": ...',
        "match model:\n    case BiLSTMConfig(): ...",
        "match model:\n    case models.BiLSTMConfig(layers=1): ...",
        'match model:\n    case Part(kind="bilstm"): ...',
        'match data:\n    case {"kind": "bilstm"}: ...',
        # Lists and tables.
        'NAMES = {"masked_lm": 1, "causal_lm": 2}',
        "NAMES = {BiLSTMConfig: 1}",
        "NAMES = {models.BiLSTMConfig: 1}",
        'ENCODERS = ("masked_transformer", "bilstm")',
        'ENCODERS = {"masked_transformer", "bilstm"}',
        "NAMES[model.kind]",
        "module.NAMES[model.kind]",
        "NAMES.get(model.kind, 1)",
        "shape = model.kind\nNAMES[shape]",
    ],
)
def test_telling_kinds_apart_is_noticed(source):
    assert len(told_apart(source, KNOWN)) >= 1


@pytest.mark.parametrize(
    "source",
    [
        'record.header.kind == "response"',
        "model.architecture == objective.model_architecture",
        'self.architecture == "decoder"',
        "stack.attention.heads == 4",
        'unit == "words"',
        "BACKBONES[config.kind](config)",
        "tables.BACKBONES.get(config.kind)",
        "counts[step.kind] += 1",
        'row = {"text": text, "length": 3}',
        "isinstance(step, CleaningStep)",
        'match unit:\n    case "words": ...',
        'f"{model.kind} has no decoder"',
    ],
)
def test_asking_a_kind_is_allowed(source):
    assert told_apart(source, KNOWN) == []


def test_a_second_table_is_noticed_next_to_the_first():
    table = 'SOURCES = {"text": 1, "jsonl": 2}\n'
    place = PACKAGE / "corpus" / "readers" / "sources.py"
    assert kinds_told_apart(place, table) == []
    assert len(kinds_told_apart(place, table + 'if source.kind == "text": ...')) == 1
    assert len(kinds_told_apart(PACKAGE / "corpus" / "x.py", table)) == 1
