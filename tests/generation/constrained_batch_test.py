"""Texts of random weights that are held to a constraint: what is completed is valid."""

import functools
import gc
import json
import types
import weakref

import hypothesis.internal.conjecture.utils
import jsonschema
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings, strategies as st
from hypothesis_jsonschema import from_schema

from firth.constraints import token_automaton
from firth.constraints.compiling import schema_automaton
from firth.constraints.constraint_cache import ConstraintCache
from firth.constraints.matcher import ConstraintError
from firth.constraints.token_bytes import SINGLE_BYTES, TokenBytes
from firth.generation import Generator, SpeculativeGenerator, controls_of
from firth.generation.automaton_writer import AutomatonWriter
from firth.generation.constrained_batch import ConstrainedBatch
from firth.generation.samplers import SAMPLERS as SAMPLERS_OF
from firth.generation.writer import AT_END, RUNNING
from firth.models import build_pretraining_model
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.tokenizers.tokenizer import (
    BytePairTokenizerConfig,
    SentencePieceTokenizerConfig,
    Sequences,
)
from firth.tokenizers import (
    BytePairTokenizer,
    SentencePieceTokenizer,
    count_byte_words,
    count_spaced_words,
    train_byte_pairs,
    train_sentencepiece,
)
from tests.generation.cases import CountingReader, eagerly, generator_of
from tests.generation.framing_turns_test import SAID, generator as generator_of_dialogues
from tests.models.table import MODELS, OTHERS, TRAINED, tiny_recipe
from tests.repeating import often

TEXTS = ['{"name": "Zoë", "count": [1, 2, 30], "kind": "cat"}', "the quick brown fox; yes or no"] * 3
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["cat", "dög", 'a"b\\', 7]},
        "name": {"type": "string", "maxLength": 4},
        "count": {"type": "array", "items": {"type": "integer", "minimum": -5, "maximum": 30}, "maxItems": 2},
        "born": {"type": "string", "format": "date"},
    },
    "required": ["kind", "count", "born"],
    "additionalProperties": False,
}
# As its enums, without bounds of numbers, for an automaton.
ENUMS = {**SCHEMA, "properties": {**SCHEMA["properties"], "count": {"enum": [[], [-5], [7, 30]]}}}
LENGTH = 200


class BegunOpByOp(Generator):
    """Reads prompts op by op, of which `generator_test.py` has graphs: each sampler would trace one more."""

    def _functions(self, *arguments):
        decoding, start, *others = super()._functions(*arguments)
        return decoding, start._function, *others


@functools.cache
def generator(goal: str, kind: str) -> Generator:
    """Returns the generator of a tiny model of random weights."""
    family, objective = TRAINED[goal]
    model = (MODELS.get(family) or OTHERS[family]).model_copy(update={"layers": 1})
    if kind == "bpe":
        pieces = train_byte_pairs(count_byte_words(TEXTS), 330, 1, 16)
        tokenizer, config = BytePairTokenizer(pieces), BytePairTokenizerConfig
    else:
        falls_back = kind == "sentencepiece"
        made = train_sentencepiece(
            count_spaced_words(TEXTS), 350 if falls_back else 90, "bpe", 16, byte_fallback=falls_back
        )
        tokenizer, config = SentencePieceTokenizer(made), SentencePieceTokenizerConfig
    recipe = tiny_recipe(
        model,
        objective=objective,
        tokenizer=config(vocabulary_size=tokenizer.vocabulary_size(), sentinels=16),
        sequences=Sequences(length=LENGTH, max_documents=2),
    )
    return BegunOpByOp(build_pretraining_model(recipe), tokenizer, recipe)


def is_valid(text: str, schema=SCHEMA) -> bool:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid(json.loads(text))


def request(schema, sampler, white_space="compact", most=150, seed=0) -> GenerationRequest:
    constraint = {"kind": "json_schema", "json_schema": schema, "white_space": white_space}
    return GenerationRequest.with_values(
        {"constraint": constraint, "max_new_tokens": most, "seed": seed, **SAMPLERS[sampler]}
    )


SAMPLERS = {
    "greedy": {"repetition_penalty": 1.3},
    "sample": {"temperature": 1.5, "no_repeat_ngram_size": 2},
    "beam": {"beams": 3},
    "contrastive": {"penalty_alpha": 0.6},
}


CASES = [
    ("causal_lm, table of its own", "bpe", "greedy"),
    ("causal_lm, table of its own", "bpe", "sample"),
    ("causal_lm, table of its own", "sentencepiece", "beam"),
    ("span_corruption", "sentencepiece", "sample"),
    ("span_corruption", "bpe", "contrastive"),
]


# Beams are tried with random schemas, and samples where tokens are forced.
@pytest.mark.parametrize(("goal", "kind", "sampler"), often(CASES, [CASES[0], CASES[4]]))
def test_completed_texts_are_valid(goal, kind, sampler):
    requests = [
        request(SCHEMA, sampler, white_space, most, seed)
        for seed, (white_space, most) in enumerate([("compact", 150), ("single", 150), (2, 12)])
    ]
    found = generator(goal, kind).generate(["the fox", "yes", "a cat"], requests)
    assert [each.complete for each in found] == [each.ended == "end" for each in found]
    assert sum(each.complete for each in found) >= 2
    for each in found:
        if each.complete:
            assert is_valid(each.text), each.text
            assert each.text == each.text.strip()


def of_rows(nest, rows):
    return tf.nest.map_structure(lambda each: tf.gather(each, rows), nest)


@eagerly()
@pytest.mark.parametrize(
    ("sampler", "has_sets"),
    often(
        [("greedy", True), ("sample", False), ("beam", True), ("beam", False)],
        # `tests/serving/schemas_test.py` has sets of tokens in a graph that is exported.
        [("beam", False)],
    ),
)
def test_an_automaton_in_the_graph_writes_what_its_matchers_write(sampler, has_sets, monkeypatch):
    """Rows are taken in another order half way, and joined with those of another batch."""
    made = generator("causal_lm, table of its own", "bpe")
    framing, texts = made.framing, ["the fox", "yes", "a cat"]
    tokens = TokenBytes.of(made.tokenizer, framing.may_write, framing.end_id)
    automaton = schema_automaton(ENUMS, tokens)
    if not has_sets:
        monkeypatch.setattr(token_automaton, "_MOST_BYTES", 0)
        automaton = token_automaton.build_token_automaton(automaton.automaton, tokens)
    assert automaton.has_sets == has_sets
    monkeypatch.undo()
    asked = request(ENUMS, sampler).with_changes({"finish": True})
    requests = [
        asked.with_changes({"max_new_tokens": automaton.least_tokens + more, "seed": more})
        for more in (0, 5, 20)
    ]
    expected = made.generate(texts, requests)
    assert [each.complete for each in expected] == [True] * 3
    decoder = SAMPLERS_OF[asked.sampler.kind](made.reader, framing.end_id, framing.may_write, asked.sampler)
    writer, room = AutomatonWriter(decoder, automaton), requests[2].max_new_tokens

    def begun(rows):
        controls = controls_of([requests[row] for row in rows], made.tokenizer)
        prompts = framing.batch(framing.read([texts[row] for row in rows]))
        return writer.go_on(writer.start(prompts, controls, room)[0], controls, 4)

    order, state = [0, 1, 2], begun([0, 1, 2])
    if sampler != "beam":
        # The rows of beams are apart from those of their texts.
        order, (one, two) = [1, 0, 2], (begun([0, 1]), begun([2]))
        state = tf.nest.map_structure(lambda *pair: tf.concat(pair, 0), of_rows(one, [1, 0]), two)
    controls = controls_of([requests[row] for row in order], made.tokenizer)
    found = writer.texts(writer.go_on(state, controls, room))
    for row, number in enumerate(order):
        assert tuple(found.ids[row, : found.count[row]].numpy()) == expected[number].ids
        assert found.ended[row] == AT_END


def of_keys(required=("type",), **properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


# Characters of several bytes and escapes, without control characters, which no text has.
TEXT = {"type": "string", "pattern": '\\A[a-d1é"\\\\/ 😀\\n]{0,3}\\Z'}
VALUES = {"anyOf": [TEXT, *({"type": each} for each in ("number", "boolean", "null"))]}
LEAVES = {
    "anyOf": [
        of_keys(type={"const": "integer"}, minimum={"enum": [-99, 0, 7]}, maximum={"enum": [7, 100, 10**6]}),
        of_keys(type={"const": "number"}, exclusiveMinimum={"enum": [-1, 0.25]}, maximum={"enum": [0.5, 3]}),
        of_keys(type={"const": "string"}, minLength={"enum": [0, 2]}, maxLength={"enum": [2, 5]}),
        of_keys(type={"const": "string"}, format={"enum": ["date", "time", "date-time", "uuid", "ipv4"]}),
        of_keys(type={"const": "string"}, pattern={"enum": ["^[a-c]+[0-9]?$", '^[é"]{2}$', "^(x|yz)*$"]}),
        of_keys(type={"enum": ["boolean", "null", "string", "number", ["integer", "null"]]}),
        of_keys(["enum"], enum={"type": "array", "items": VALUES, "minItems": 1, "maxItems": 3}),
        of_keys(["const"], const=VALUES),
    ]
}
ITEMS = of_keys(["type", "items"], type={"const": "array"}, items=LEAVES, maxItems={"enum": [1, 3]})
PROPERTIES = {
    "type": "object",
    "propertyNames": TEXT,
    "additionalProperties": {"anyOf": [LEAVES, ITEMS]},
    "maxProperties": 3,
}
OBJECTS = of_keys(
    ["type", "properties", "additionalProperties"],
    type={"const": "object"},
    properties=PROPERTIES,
    additionalProperties={"const": False},
)
SCHEMAS = st.builds(
    lambda schema, most: {**schema, "required": [*schema["properties"]][:most]},
    from_schema(OBJECTS),
    st.integers(0, 3),
) | from_schema(ITEMS)
HAS_RANDOM = hasattr(hypothesis.internal.conjecture.utils.many, "more")


@functools.cache
def random_schemas(count=24):
    """Returns some schemas; an example of hypothesis has all, and its first example is the simplest."""
    found = []

    @settings(derandomize=True, max_examples=3 if count == 24 else 2, deadline=None, database=None)
    @given(st.lists(SCHEMAS, min_size=count, max_size=count, unique_by=json.dumps))
    def take(schemas):
        found[:] = schemas

    take()
    return found


@pytest.mark.skipif(
    not HAS_RANDOM, reason="hypothesis-jsonschema 0.23 calls what newer versions of hypothesis have no more"
)
@pytest.mark.parametrize(
    ("goal", "kind", "sampler"),
    often([*CASES, ("causal_lm, table of its own", "without fallback", "sample")], CASES[2:3]),
)
def test_texts_of_random_schemas_are_valid(goal, kind, sampler):
    """Strings of any length may be cut, but none that is completed is invalid."""
    made, requests = generator(goal, kind), []
    # Fewer take half as long to be drawn; of a vocabulary without all bytes only some can be written.
    for seed, schema in enumerate(random_schemas(24 if kind == "without fallback" else 8)):
        asked = request(schema, sampler, ("compact", "single", 1)[seed % 3], seed=seed)
        try:
            made.check(asked)
        except ConstraintError as error:
            assert "vocabulary" in str(error) or "digits" in str(error)
        else:
            requests.append(asked)
    found = made.generate(["the fox"] * len(requests), requests)
    completed = [pair for pair in zip(requests, found, strict=True) if pair[1].complete]
    for asked, each in completed:
        assert is_valid(each.text, asked.constraint.json_schema), (each.text, asked.constraint)
    assert len({each.text for _, each in completed}) >= 3 and len(requests) >= 6


@eagerly()
def test_texts_without_a_constraint_are_what_they_were():
    """A mask has no place in their graph."""
    made = generator_of("causal_lm")
    prompts, free = ["the fox", "a cat", "dogs"], {"max_new_tokens": 5, "seed": 2, "temperature": 1.5}
    alone = made.generate(prompts, free)
    held = {**free, "choices": ["lazy dog", "cats"]}
    requests = [GenerationRequest.with_values(each) for each in (free, held, free)]
    mixed = made.generate(prompts, requests)
    assert [mixed[0].ids, mixed[2].ids] == [alone[0].ids, alone[2].ids]
    assert mixed[1].text in held["choices"] and mixed[1].complete
    assert [each.complete for each in alone] == [None] * 3


# The test before says that texts without a constraint are what they were.
@pytest.mark.repeated
def test_the_graph_of_texts_without_a_constraint_has_no_mask():
    shared = generator("causal_lm, table of its own", "bpe")
    made = BegunOpByOp(shared.model, shared.tokenizer, shared.recipe)
    made.generate("the fox", max_new_tokens=3)
    made.generate("the fox", max_new_tokens=3, regex="[a-z]{9}")
    graphs = {}
    for key, (_, _, go_on, _) in made._made.items():
        if go_on._compiled is not None and key[0] == "greedy":
            concrete = go_on._compiled.get_concrete_function()
            graphs[bool(key[-2])] = str(concrete.graph.as_graph_def())
    assert "BitwiseAnd" in graphs[True] and "BitwiseAnd" not in graphs[False]
    # A function that the graph calls must not keep the model in memory.
    reader = weakref.ref(made.reader)
    del made, _, go_on, concrete
    gc.collect()
    assert reader() is None


@eagerly()
def test_a_text_that_no_token_continues_is_stuck():
    """No piece has an x, which all ways of the first words hide from the check before."""
    found = generator_of("causal_lm").generate("the fox", regex="(the|fox|a|cat)( the| fox| a| cat)*x{2}")
    assert (found.ended, found.complete) in [("stuck", False), ("length", False)]
    stuck = generator_of("causal_lm").generate("the fox", regex="(the|a|in)( the| cat| a| dog| fox){2}x")
    assert (stuck.ended, stuck.complete, len(stuck.ids)) == ("stuck", False, 3)
    # A grammar has no automaton that says so before.
    late = generator_of("causal_lm").generate(
        "the fox", grammar="start: /(the|a|in)( the| cat| a| dog| fox){2}/ /q/"
    )
    assert (late.ended, late.complete, len(late.ids)) == ("stuck", False, 3)


# Each sampler, and a reader that goes back and one that does not: `make test` has not every pair.
FORCED = [("causal_lm", "greedy"), ("bidirectional_lm", "sample")]
MORE_FORCED = [("span_corruption", "greedy"), ("causal_lm", "sample"), ("span_corruption", "sample")]
MORE_FORCED += [("bidirectional_lm", "greedy")]


@eagerly()
@pytest.mark.parametrize(
    ("name", "sampler"), [*FORCED, *(pytest.param(*each, marks=pytest.mark.repeated) for each in MORE_FORCED)]
)
def test_forced_tokens_are_read_in_one_call(name, sampler):
    """Rows force different numbers of tokens, one ends before the others, and one is cut inside them."""
    counting, plain = (
        Generator(made.model, made.tokenizer, made.recipe) for made in [generator_of(name)] * 2
    )
    held = [
        {"choices": ["the lazy dog jumps over", "a cat runs over the dog !"], "presence_penalty": 2.0},
        {"regex": "(a|the) lazy dog( runs| jumps) over the (fox|cat)", "min_new_tokens": 9},
        {"choices": ["cat", "dog runs"], "no_repeat_ngram_size": 1},
        {"choices": ["the lazy dog jumps over the fox"], "max_new_tokens": 4},
        {"grammar": "start: /(the|a|in)( the| cat| a| dog| fox){2} runs overx/"},
    ]
    values = {"max_new_tokens": 9, "log_probabilities": True, **SAMPLERS[sampler]}
    requests = [GenerationRequest.with_values({**values, "seed": 3, **each}) for each in held]
    if name == "bidirectional_lm":
        requests = requests[:1]
    prompts = ["the fox", "a cat", "a", "the lazy dog", "a"][: len(requests)]
    for each in (counting, plain):
        each.reader = CountingReader(each.reader)
    made = plain._decoding
    plain._decoding = lambda *rest, **named: without_forced(made(*rest, **named))
    expected, found = (
        [*each.generate(prompts, requests), each.generate(prompts[-1], requests[-1])]
        for each in (plain, counting)
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=2e-5)
        assert one._replace(log_probabilities=None) == other._replace(log_probabilities=None)
    if counting.reader.goes_back:
        assert counting.reader.calls <= plain.reader.calls - 5
    else:
        assert counting.reader.calls == plain.reader.calls


def without_forced(decoding):
    decoding.reads_forced = False
    return decoding


@pytest.mark.repeated
@eagerly()
def test_guesses_streams_and_replies_are_held_too():
    plain = generator_of("causal_lm")
    asked = {"regex": "(the |fox |dog){2,4}", "max_new_tokens": 6}
    expected = plain.generate("the fox", asked)
    assert SpeculativeGenerator(plain, tokens=2).generate("the fox", asked).text == expected.text
    stream = plain.stream("the fox", asked)
    assert "".join(stream) == expected.text and stream.result.complete == expected.complete
    reply = generator_of_dialogues().reply(SAID, choices=["mat", "on mat"], max_new_tokens=6)
    assert reply.complete and reply.text in ("mat", "on mat")
    sampler = {"kind": "beam", "beams": 3, "n_best": 3}
    best = plain.generate("the fox", sampler=sampler, choices=["dogs", "cat", "the fox"], max_new_tokens=4)
    texts = [each.text for each in (best, *best.others) if each.complete]
    assert best.complete and sorted(texts) == ["cat", "dogs", "the fox"]


def test_a_guess_that_cannot_be_followed_within_the_limits_may_be_refused():
    """After the guess "ab", a row of llguidance has more than 2,000 items; the text writes "c" instead."""
    rules = "\n".join(f's{n}: "a" s{n} "x{n}" | "b"' for n in range(700))
    grammar = f'start: "c" | "ab" ({" | ".join(f"s{n}" for n in range(700))})\n{rules}'
    asked = GenerationRequest.with_values({"grammar": grammar})
    text = types.SimpleNamespace(most=9, request=asked)
    batch = ConstrainedBatch(ConstraintCache(lambda: SINGLE_BYTES), [text], 1)

    def follow(*ids):
        batch.follow(
            np.array([[ids]], np.int32), np.array([[len(ids)]]), np.array([[True]]), np.array([RUNNING])
        )
        return [each for each in range(256) if batch.mask[0, 0, each // 32] >> each % 32 & 1]

    first = follow()
    assert {*b"ac"} <= {*first}
    _, masks, most = batch.guess(np.array([[*b"aba"]], np.int32))
    assert most[0] < 4 and masks.shape[1] == 4
    assert follow() == first and follow(*b"c") == [] and not batch.stuck[0]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"schema": {"type": "object"}}, "b'{'"),
        ({"schema": {"enum": []}}, "#/enum"),
        ({"schema": {"const": "\ud800"}}, "#/const"),
        ({"schema": functools.reduce(lambda inner, _: {"items": inner}, range(900), {})}, "64"),
        ({"schema": "object"}, "json_schema"),
        ({"choices": []}, "choices"),
        ({"choices": ["a"], "regex": "a"}, "one constraint"),
        ({"constraint": {"kind": "regx", "pattern": "a"}}, "did you mean regex"),
        ({"regex": "(a"}, "unclosed"),
        ({"constraint": {"kind": "json_schema", "json_schema": {}, "white_space": "any"}}, "white_space"),
        ({"constraint": {"kind": "json_schema", "json_schema": {}, "white_space": 10**6}}, "white_space"),
        ({"finish": True}, "finish"),
        ({"grammar": 'start: "a"', "finish": True}, "grammar"),
        ({"regex": "(the|a|in)( the| cat| a| dog| fox){3}q( cat|w)?"}, "b'q'"),
        ({"regex": "(the|a|in)( the| cat| a| dog| fox){3}(q|w|qw)"}, "b'q' or b'w'"),
        ({"choices": [f"{'a ' * size}{end}" for size in range(70) for end in ("Q", "Qa")]}, "b'Q'"),
        ({"choices": ["the lazy fox"], "finish": True, "max_new_tokens": 2}, "at least 4"),
    ],
)
def test_a_constraint_that_cannot_be_honoured_is_refused_in_a_sentence(values, named):
    with pytest.raises(ValueError) as refused:
        generator_of("causal_lm").stream("the fox", values)
    assert named in str(refused.value) and "\n" not in str(refused.value)
