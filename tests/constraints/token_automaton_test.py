"""Automata over tokens: texts drawn at random are valid, and those that are to finish do."""

import json
import re

import jsonschema
import numpy as np
import pytest

from firth.constraints import automaton, token_automaton
from firth.constraints.automaton import _built, build_automaton, constraint_regex
from firth.constraints.compiling import compile_constraint
from firth.constraints.matcher import ConstraintError, fill_masks
from firth.constraints.token_automaton import AutomatonConstraint, build_token_automaton
from firth.constraints.token_bytes import TokenBytes
from firth.recipes.generation.constraints import JsonSchema, Regex, TextChoices

END = 256
# Single bytes, the end, a special piece, and pieces of several bytes, two of them with the same text.
TEXTS = (*(bytes([each]) for each in range(256)), None, None, b" {", b'{"a"', b'","', "é".encode(), b"A")
TOKENS = TokenBytes(TEXTS, END)
ORDER = {
    "type": "object",
    "properties": {
        "a": {"enum": ["A", "é", 'q"\\', None, 1.5]},
        "b": {"type": "array", "items": {"type": ["integer", "boolean"]}, "minItems": 1, "maxItems": 3},
        "c": {"type": "string", "minLength": 1, "maxLength": 3},
        "d": {"$ref": "#/$defs/node"},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["next"],
        }
    },
}


def drawn(compiled, seed, most):
    """Returns a text of random tokens, and whether its end was written."""
    matcher, generator = compiled.new_matcher(most), np.random.default_rng(seed)
    words, text = np.zeros([1, TOKENS.mask_words], np.int32), b""
    for _ in range(most):
        fill_masks([matcher], words)
        allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        token = int(generator.choice(allowed))
        matcher.accept(token)
        if token == END:
            assert matcher.complete
            return text.removeprefix(b" ").decode(), True
        text += TEXTS[token]
    return text, False


def check_white_space(text, white_space):
    """None, one space after each colon and comma, or at most so many characters in a place."""
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    if white_space == "single":
        assert not re.search("[:,](?! )", outside)
        outside = re.sub("([:,]) ", r"\1", outside)
    most = white_space if isinstance(white_space, int) else 0
    assert not re.search(rf"\s{{{most + 1}}}", outside), text


@pytest.mark.parametrize("white_space", ["compact", "single", 2])
def test_texts_of_an_automaton_are_valid_and_finish(white_space, monkeypatch):
    constraint = JsonSchema(json_schema=ORDER, white_space=white_space)
    automaton = build_token_automaton(_built(constraint_regex(constraint)), TOKENS)
    assert automaton.size < 500_000
    # By a trie too, where the sets of tokens are too many, or the tokens to make them of.
    limit = {"compact": "_MOST_BYTES", "single": "_MOST_ALLOWED"}.get(white_space, "_MOST_BYTES")
    monkeypatch.setattr(token_automaton, limit, 0)
    followed = build_token_automaton(automaton.automaton, TOKENS)
    assert automaton.has_sets and not followed.has_sets
    assert followed.least_tokens == automaton.least_tokens and followed.size < automaton.size
    for seed in range(5):
        for finish in (False, True):
            one, other = (
                drawn(AutomatonConstraint(each, finish), seed, 60) for each in (automaton, followed)
            )
            assert one == other
    validator = jsonschema.Draft202012Validator(ORDER)
    free, finishing = AutomatonConstraint(automaton), AutomatonConstraint(automaton, finish=True)
    at_run_time, found = compile_constraint(constraint, TOKENS), []
    for seed in range(20):
        text, is_ended = drawn(free, seed, 200)
        found += [text] * is_ended
        # From the least length on, every one is enough.
        text, is_ended = drawn(finishing, seed, automaton.least_tokens + seed % 5)
        assert is_ended
        found.append(text)
    assert len({*found}) > 20
    for text in found:
        validator.validate(json.loads(text))
        check_white_space(text, white_space)
        # Both ways know the same texts.
        assert automaton.automaton.accepts(text.encode())
        matcher = at_run_time.new_matcher(len(text))
        for byte in text.encode():
            matcher.accept(byte)
        assert matcher.complete


def test_a_literal_text_and_its_least_number_of_tokens():
    automaton = build_token_automaton(_built(constraint_regex(TextChoices(choices=("A", "éé")))), TOKENS)
    assert automaton.least_tokens == 2
    matcher = AutomatonConstraint(automaton).new_matcher(9)
    words = np.zeros(TOKENS.mask_words, np.int32)
    matcher.write_mask(words)
    allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()
    # Both pieces of A, that of é, its first byte, and one space.
    assert allowed == [ord(" "), ord("A"), "é".encode()[0], TEXTS.index("é".encode()), len(TEXTS) - 1]
    matcher.accept(len(TEXTS) - 1)
    copied = matcher.copy()
    copied.accept(END)
    copied.write_mask(words)
    assert matcher.complete and not words.any()
    matcher.write_mask(words)
    assert words.any()
    with pytest.raises(ConstraintError, match="at least 2 tokens"):
        AutomatonConstraint(automaton, finish=True).new_matcher(1)


@pytest.mark.parametrize(
    ("expression", "texts", "named"),
    [
        ("(?=a)b", TEXTS, "DFA"),
        ("[ab]*a[ab]{14}", TEXTS, "32,000"),
        (r"\{1", tuple(None if text and b"{" in text else text for text in TEXTS), "byte_fallback"),
        ("ab", tuple(text and b" " + text for text in TEXTS), "spaces"),
    ],
)
def test_what_no_automaton_or_vocabulary_has_is_refused(expression, texts, named):
    # In a process of its own, as for users; the other tests build in their own.
    with pytest.raises(ConstraintError, match=named):
        build_token_automaton(
            build_automaton(constraint_regex(Regex(pattern=expression))), TokenBytes(texts, END)
        )


@pytest.mark.parametrize(
    ("expression", "texts", "others"),
    [
        # The longer text of those that one begins.
        ("1|12|123", ["1", "12", "123"], ["13", ""]),
        (r"[0-9](?:\.[0-9]+)?(?:e[0-9]{1,2})?", ["1", "1.5", "1.25e3", "1e12"], ["1.", "1e", "1e123"]),
        (r"a*?(?:ba)??", ["", "a", "aaba", "ba"], ["b", "ab"]),
        (".*", ["", "é😀", "a b"], ["a\n", "\U0010ffff"]),
    ],
)
def test_an_automaton_has_every_text_of_an_expression(expression, texts, others):
    automaton = _built(expression)
    assert [each for each in texts if not automaton.accepts(each.encode())] == []
    assert [each for each in others if automaton.accepts(each.encode())] == []


OBJECT = {"type": "object", "properties": {"a": {"type": "null"}}}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        # What the engine of the automata skips, or takes for something else.
        ({"type": "integer", "minimum": 1}, "#/minimum"),
        ({"type": "number", "multipleOf": 2}, "#/multipleOf"),
        ({"type": "array", "items": {"type": "null"}, "uniqueItems": True}, "#/uniqueItems"),
        ({"type": "object", "patternProperties": {"a": {}}}, "#/patternProperties"),
        ({**OBJECT, "additionalProperties": {"type": "null"}}, "#/additionalProperties"),
        ({**OBJECT, "not": {}}, "#/not"),
        ({**OBJECT, "if": {}}, "#/if"),
        ({"allOf": [OBJECT]}, "#/allOf"),
        ({"oneOf": [OBJECT]}, "#/oneOf"),
        ({"anyOf": [OBJECT], "type": "object"}, "#/type"),
        ({"enum": [1], "minLength": 1}, "#/minLength"),
        ({"$defs": {"a": OBJECT}, "$ref": "#/$defs/a", "required": ["a"]}, "#/required"),
        ({**OBJECT, "minItems": 1}, "#/minItems"),
        ({"type": "string", "pattern": "(?=a)"}, "#/pattern"),
        ({"type": "string", "format": "ipv4"}, "#/format"),
        ({"items": {}}, "#"),
    ],
)
def test_what_no_automaton_has_is_refused_by_its_place(schema, place):
    with pytest.raises(ConstraintError) as refused:
        constraint_regex(JsonSchema(json_schema=schema))
    assert str(refused.value).startswith(f"{place}: ") and "\n" not in str(refused.value)


def test_an_automaton_of_too_many_bytes_is_refused(monkeypatch):
    monkeypatch.setattr(automaton, "MOST_BYTES", 300)
    with pytest.raises(ConstraintError, match=r"has \d+ bytes, more than 300"):
        _built("[ab]{20}c")


@pytest.mark.parametrize("expression", ["^a", "a$", r"a|^b$"])
def test_an_anchor_is_refused_by_name(expression):
    with pytest.raises(ConstraintError, match="anchors"):
        _built(expression)
