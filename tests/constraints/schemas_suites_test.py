"""Both ways next to jsonschema, on schemas of our own and on cases of the JSON-Schema-Test-Suite."""

import json
import pathlib

import jsonschema
import pytest

from firth.constraints.automaton import _built, constraint_regex
from firth.constraints.compiling import compile_constraint
from firth.constraints.matcher import ConstraintError
from firth.constraints.token_bytes import SINGLE_BYTES
from firth.recipes.generation.constraints import JsonSchema
from tests.constraints.own_schemas import CASES
from tests.constraints.schemas_test import accepts

DRAFT = pathlib.Path(__file__).with_name("data") / "draft2020_12.jsonl"


def compact(instance) -> str:
    return json.dumps(instance, ensure_ascii=False, separators=(",", ":"))


def test_there_are_two_hundred():
    assert len(CASES) == 200 and len({case.name for case in CASES}) == 200
    for case in CASES:
        checker = jsonschema.Draft202012Validator(
            case.schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )
        assert all(map(checker.is_valid, case.valid)), case.name
        assert not any(map(checker.is_valid, case.invalid)), case.name


# The cases of the suite are followed in this way each time, and these as automata.
@pytest.mark.repeated
def test_own_schemas_while_a_text_is_written():
    wrong = []
    for case in CASES:
        compiled = compile_constraint(JsonSchema(json_schema=case.schema), SINGLE_BYTES)
        for instances, expected in ((case.valid, True), (case.invalid, False)):
            texts = map(compact, instances)
            wrong += [(case.name, text) for text in texts if accepts(compiled, text) != expected]
    assert wrong == []


def automaton_of(schema):
    # In this process: a process for each schema takes minutes.
    return _built(constraint_regex(JsonSchema(json_schema=schema)))


def test_own_schemas_as_automata():
    for case in CASES:
        automaton = automaton_of(case.schema)
        for each in case.valid:
            assert automaton.accepts(compact(each).encode()), (case.name, each)
        for each in case.invalid:
            assert not automaton.accepts(compact(each).encode()), (case.name, each)


def test_cases_of_the_test_suite():
    """Every schema is refused or followed: no invalid instance is accepted."""
    invalid_accepted, valid_refused, followed, refused = [], [], 0, set()
    for line in DRAFT.read_text().splitlines():
        case = json.loads(line)
        try:
            compiled = compile_constraint(JsonSchema(json_schema=case["schema"]), SINGLE_BYTES)
        except ValueError:
            refused.add(case["keyword"])
            continue
        followed += len(case["tests"])
        for instance, is_valid in case["tests"]:
            if accepts(compiled, compact(instance)) != is_valid:
                wrong = valid_refused if is_valid else invalid_accepted
                wrong.append((case["keyword"], case["description"], compact(instance)))
    assert invalid_accepted == []
    # A number or a time is written in one of its spellings, and properties in one order.
    assert len(valid_refused) < 0.05 * followed, valid_refused
    assert followed > 500
    assert {"not", "uniqueItems", "contains", "if-then-else", "propertyNames"} <= refused


def test_cases_of_the_test_suite_as_automata():
    """Most have no `type` and are refused; of the others no invalid instance is let through."""
    invalid_accepted, valid_refused, followed = [], [], 0
    for line in DRAFT.read_text().splitlines():
        case = json.loads(line)
        try:
            automaton = automaton_of(case["schema"])
        except ConstraintError:
            continue
        followed += len(case["tests"])
        for instance, is_valid in case["tests"]:
            if automaton.accepts(compact(instance).encode()) != is_valid:
                wrong = valid_refused if is_valid else invalid_accepted
                wrong.append((case["keyword"], case["description"], compact(instance)))
    assert invalid_accepted == []
    # Numbers have one spelling, and properties one order.
    assert {keyword for keyword, _, _ in valid_refused} <= {"const", "enum", "type"}
    assert followed > 150
