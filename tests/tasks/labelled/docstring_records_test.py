"""Labelled records made of docstrings: of packages that are made up, and of the standard library's."""

import random
import sys
from collections import Counter

import pytest

from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.data import DocstringsData
from firth.recipes.tasks.tagging import Tagging
from firth.tasks.labelled.data import fingerprint, published_scores, read_labelled_data, read_to_train
from firth.tasks.labelled.data_readers import LABELLED_DATA
from firth.tasks.labelled.docstring_records import docstring_records, docstring_task
from firth.tasks.labelled.docstrings import docstring_texts, python_files
from firth.tasks.readers import RefusedFileError

# Packages of the standard library, so that they are always there.
REAL = ("asyncio", "email", "logging", "unittest")

MODULE = '''
"""Tools for whales."""

def swim(a, far_out, path, fast=True):
    """Swims far away from a boat.

    It leaves on a path of its own and stays away from `far_out` for long.

    Parameters
    ----------
    a : array_like, optional
        Where it is.
    far_out : list of int
        Where it goes.

    Returns
    -------
    path : str
        Nothing.

    Examples
    --------
    >>> swim(1, [2])
    """

class Whale:
    """A whale of many years."""

    def __init__(self, name, age):
        """Makes one.

        Args:
            name (str): What it is called.
            age (dict[str, int]): How old it is, by calendar.
            size: How long it is.
        """
'''


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Makes packages of modules: a function from their names and sources."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(**modules):
        for name, source in modules.items():
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text(source)
        return tuple(modules)

    return make


def read(task, packages):
    return docstring_records(DocstringsData(task=task, packages=packages, max_records=10**6))


def words(count, generator):
    return " ".join(generator.choice(("whale", "sea", "boat", "net", "wave")) for _ in range(count))


def source_of(lengths, generator):
    """A module of functions with docstrings whose summary has a third of the words of the body."""
    texts = (
        f'    """{words(max(length // 3, 3), generator)}\n\n    {words(length, generator)}\n    """'
        for length in lengths
    )
    return "\n".join(f"def f{number}():\n{text}" for number, text in enumerate(texts))


def lengths_of(record):
    return tuple(len(text.split()) for text in record.texts.values())


def told_by_length(records, *, bucket=1):
    """Returns the accuracy of the commonest label of each length, as counted in half of the records."""
    keys = [tuple(length // bucket for length in lengths_of(record)) for record in records]
    counts: dict = {}
    for key, record in zip(keys[::2], records[::2]):
        counts.setdefault(key, Counter())[record.label] += 1
    asked = [(counts[key], record) for key, record in zip(keys[1::2], records[1::2]) if key in counts]
    return sum(said.most_common(1)[0][0] == record.label for said, record in asked) / len(asked)


def test_parameters_are_told_from_words(packages):
    """`a` and `path` are words here as well, so that only what is marked as a name tells."""
    found = read("parameters", packages(whales=MODULE)).records
    assert [(record.id.split(":")[0], record.line) for record in found] == [("whales/whales.swim", 4)]
    named = [word for word, tag in zip(found[0].texts["words"], found[0].label) if tag != "O"]
    assert named == ["a", "far_out"] and len(found[0].texts["words"]) == len(found[0].label)
    assert set(found[0].label) == {"O", "B-parameter"}


def test_types_are_found_at_their_places(packages):
    # One parameter of each docstring is asked for, so that of several each is.
    source = "\n".join(
        MODULE.replace("Swims", f"Swims {number}").replace("Makes", f"Makes {number}") for number in range(8)
    )
    found = {record.texts["question"]: record for record in read("type", packages(whales=source)).records}
    answers = {
        "What is the type of a?": "array_like",
        "What is the type of far_out?": "list of int",
        "What is the type of name?": "str",
        "What is the type of age?": "dict[str, int]",
    }
    assert set(found) == set(answers)
    for question, record in found.items():
        ((text, start),) = record.label
        context = record.texts["context"]
        assert text == answers[question] and context[start : start + len(text)] == text
        assert "Nothing." not in context and "  " not in context


def test_summaries_and_bodies(packages):
    (record,) = read("summarise", packages(whales=MODULE)).records
    assert record.label == "Swims far away from a boat."
    assert (
        record.texts["text"].startswith("It leaves on a path of its own")
        and ">>>" not in record.texts["text"]
    )
    assert "----" not in record.texts["text"]


def test_the_length_does_not_tell_the_package(packages):
    generator = random.Random(3)
    long, short = ([generator.randint(*ends) for _ in range(600)] for ends in ((8, 50), (5, 30)))
    names = packages(ships=source_of(long, generator), fishes=source_of(short, generator))
    records = read("package", names).records
    assert len(records) > 400 and len(set(Counter(record.label for record in records).values())) == 1
    assert told_by_length(records) < 0.6


def test_the_length_does_not_tell_whether_a_body_belongs_to_a_summary(packages):
    """Bodies of long summaries are long here: bodies taken at random would show it."""
    generator = random.Random(3)
    lengths = [generator.randint(9, 100) for _ in range(800)]
    records = read("summary", packages(ships=source_of(lengths, generator))).records
    counts = Counter(record.label for record in records)
    assert len(records) > 700 and abs(counts["yes"] - counts["no"]) <= 2
    assert told_by_length(records, bucket=4) < 0.6


def test_each_text_is_in_one_pair_and_bodies_stay_in_their_package(packages):
    generator = random.Random(5)
    modules = {name: source_of([10] * 40, generator) for name in ("ships", "fishes")}
    names = packages(**modules)
    records = read("summary", names).records
    for role in ("text", "pair"):
        assert max(Counter(record.texts[role] for record in records).values()) == 1
    wrong = [record for record in records if record.label == "no"]
    own = {each.texts["text"]: each.label for each in read("summarise", names).records}
    assert wrong
    for record in records:
        package = record.id.split("/")[0]
        assert record.texts["pair"] in modules[package]
        assert (own[record.texts["pair"]] == record.texts["text"]) == (record.label == "yes")


def test_copies_are_left_out(packages):
    """A docstring is read once, and not at all if several packages have it."""
    copied = 'def copied():\n    """A text of six words here."""\n'
    own = 'def {0}():\n    """This {0} text is one of seven words."""\n'
    names = packages(ships=copied + own.format("whale") * 2, fishes=copied + own.format("shark"))
    texts, rejected = docstring_texts(python_files(names))
    assert [(each.package, each.name, each.line) for each in texts] == [
        ("ships", "ships.whale", 3),
        ("fishes", "fishes.shark", 3),
    ]
    assert rejected == [] and len(read("package", names).records) == 2


def test_ids_differ(packages, tmp_path):
    """A module may be a file and a folder; rows know a record by its id."""
    (name,) = packages(ships='def f():\n    """This text is one of eight words, written."""\n')
    (tmp_path / name / "sail.py").write_text('def f():\n    """This text is one of eight words, here."""\n')
    (tmp_path / name / "sail").mkdir()
    (tmp_path / name / "sail" / "__init__.py").write_text(
        'def f():\n    """This text is one of eight words, there."""\n'
    )
    ids = [record.id for record in read("package", (name,)).records]
    assert sorted(ids) == ["ships/ships.f:1", "ships/ships.sail.f:1"]


def test_a_text_that_names_its_package_is_left_out(packages):
    one = 'def f():\n    """This text of many words names {}, and it is long."""\n'
    names = packages(ships=one.format("Ships"), fishes=one.format("nothing"))
    with pytest.raises(RefusedFileError, match="no records"):
        read("package", names)


def test_a_file_that_is_not_python_is_counted(packages):
    (name,) = packages(ships=MODULE + "def (")
    with pytest.raises(RefusedFileError, match=r"1 records .*:\d+: .*syntax"):
        read("summarise", (name,))


@pytest.mark.parametrize(
    "task",
    [
        pytest.param("package", marks=pytest.mark.repeated),
        "summary",
        "parameters",
        pytest.param("summarise", marks=pytest.mark.repeated),
    ],
)
def test_records_of_real_packages(task):
    data = DocstringsData(task=task, packages=REAL[1:3], max_records=100)
    found, described = docstring_records(data), docstring_task(data)
    assert found.records == docstring_records(data).records and 10 <= len(found.records) <= 100
    assert len({record.id for record in found.records}) == len(found.records)
    assert all(tuple(record.texts) == described.roles for record in found.records)
    names = described.labels.names
    assert LABELLED_DATA["docstrings"].classes(data) == (names or ())
    if names and isinstance(found.records[0].label, str):
        assert {record.label for record in found.records} == set(names)


@pytest.mark.parametrize("task", [pytest.param("package", marks=pytest.mark.repeated), "summary"])
def test_the_length_does_not_tell_the_label_in_real_packages(task):
    records = read(task, REAL).records
    share = 1 / len({record.label for record in records})
    assert len(records) > 200 and told_by_length(records, bucket=4) < share + 0.12


def test_they_are_labelled_data_as_any():
    data = DocstringsData(packages=REAL[2:], eval_fraction=0.2)
    assert read_to_train(data, Classification()).labels == REAL[2:] and published_scores(data) == (
        "accuracy",
    )
    found = read_labelled_data(data, Classification())
    assert found.held_out and found.labels == REAL[2:] and found.source == "docstrings_package"
    assert found.report()["in_both_splits"]["records"] == 0
    pair = read_labelled_data(DocstringsData(task="summary", packages=REAL[2:]), Classification(pair=True))
    assert pair.labels == ("no", "yes")
    tags = read_labelled_data(DocstringsData(task="parameters", packages=REAL[2:]), Tagging())
    assert tags.labels == ("O", "B-parameter")
    with pytest.raises(RefusedFileError, match=r"data\.task: .*class"):
        read_labelled_data(data, Regression())


def test_the_fingerprint_follows_the_files(packages):
    (name,) = packages(ships=MODULE)
    data = DocstringsData(packages=(name,))
    before = fingerprint(data)
    assert fingerprint(data) == before != fingerprint(data.model_copy(update={"task": "type"}))
    place = next(place for place in sys.path if place and "test_the_fingerprint" in place)
    with open(f"{place}/ships/more.py", "w") as file:
        file.write(MODULE)
    assert fingerprint(data) != before


def test_a_package_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(ValueError, match=r"'jsn' .*'json'"):
        fingerprint(DocstringsData(packages=("jsn",)))
