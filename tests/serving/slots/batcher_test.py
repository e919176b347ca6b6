"""Texts of slots equal those of the generator, token by token, whatever the other slots do."""

import functools
import itertools
import json
import re
import shutil

import numpy as np
import pytest
import tensorflow as tf

from firth.constraints.matcher import CompiledConstraint, Matcher
from firth.generation.slots import SlotWriter
from firth.models.builders import build_outline
from firth.models.bundle import open_weights
from firth.recipes.generation.constraints import Grammar, Regex, TextChoices
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.fit import export_conflicts
from firth.serving import ContinuousBatcher, SlotPrompt
from firth.serving.exported_model import DESCRIPTION, FOLDER
from firth.serving.served_model import Served
from firth.serving.slots.requests import prefill_request, step_request
from firth.serving.slots.tokenizer_description import FILE
from firth.serving.stored_weights.weights import StreamedWeights
from tests.generation.cases import LENGTH, PIECES, PROMPTS, eagerly, generator_of
from tests.generation.framing_turns_test import SAID, generator as generator_of_dialogues
from tests.serving.score_test import plain_logits
from tests.serving.slots.models import (
    batcher_of,
    batcher_op_by_op,
    exported,
    generator_of_exported,
    served_by,
)
from tests.serving.stored_weights.weights_test import bundle_of

# As many kinds as a request has, and different lengths, so that slots become free one by one.
ASKED = [
    {"temperature": 0.0, "max_new_tokens": 7, "no_repeat_ngram_size": 2, "min_new_tokens": 5},
    {"temperature": 0.9, "top_k": 9, "seed": 1, "max_new_tokens": 7},
    {
        "temperature": 1.5,
        "top_p": 0.9,
        "seed": 2,
        "max_new_tokens": 5,
        "presence_penalty": 0.3,
        "frequency_penalty": 0.4,
    },
    {"temperature": 1.0, "min_p": 0.05, "typical_p": 0.9, "seed": 3, "repetition_penalty": 1.2},
    {"temperature": 1.2, "seed": 2**40 + 1, "max_new_tokens": 1},
]
OF_KIND = [{"sampler": {"kind": "sample"}, **asked} for asked in ASKED]
END = PIECES.index("[SEP]")
TEXTS = [*PROMPTS, "the lazy dog", "the"]


@functools.cache
def expected_of(generator):
    """Returns the generator's answer to each prompt."""
    requests = [GenerationRequest.with_values({**asked, "log_probabilities": True}) for asked in OF_KIND]
    with eagerly():
        return generator.generate(TEXTS, requests)


def own_ids(generated):
    return generated.ids[:-1] if generated.ended == "end" else generated.ids


def test_slots_write_what_the_generator_writes(made_once):
    check_slots(generator_of_exported(), batcher_of(made_once), 5)


# `tests/serving/server/openai/completions_encoder_decoders_test.py` asks slots of an encoder and a decoder.
@pytest.mark.repeated
@pytest.mark.parametrize("name", ["prefix_lm", "denoising"])
def test_slots_of_other_models_write_what_the_generator_writes(name):
    generator = generator_of(name)
    check_slots(generator, batcher_op_by_op(served_by(generator)), 3)


def check_slots(generator, batcher, count):
    """Writes several texts in two slots: each joins when another has ended, and the rest continue."""
    steps = {}
    for each in batcher.stream(map(SlotPrompt, TEXTS[:count], ASKED)):
        steps.setdefault(each.number, []).append(each)
    assert batcher.free == 2
    for (_, found), expected in zip(sorted(steps.items()), expected_of(generator)[:count], strict=True):
        last = found[-1]
        assert (last.ids, last.ended, last.text) == (own_ids(expected), expected.ended, expected.text)
        np.testing.assert_allclose(last.log_probabilities, expected.log_probabilities, atol=1e-4)
        check_likeliest(last)
        assert [len(each.ids) for each in found[:-1]] == [*range(1, len(found))]
        assert [each.ended for each in found[:-1]] == [""] * (len(found) - 1)
        assert all(later.text.startswith(each.text) for each, later in itertools.pairwise(found))


def check_likeliest(written, count=5):
    """The likeliest come first, no token is likelier, and one of them has its own value to the last bit."""
    tokens = [*written.ids, *([END] if written.ended == "end" else [])]
    assert len(written.top) == len(tokens) == len(written.log_probabilities)
    for token, score, likeliest in zip(tokens, written.log_probabilities, written.top):
        scores = [each for _, each in likeliest]
        assert len(likeliest) == count and scores == sorted(scores, reverse=True)
        assert dict(likeliest).get(token, score) == score <= scores[0]
        assert (token in dict(likeliest)) or score <= scores[-1]


def test_score_tokens_gives_a_text_the_probabilities_that_its_steps_gave(made_once):
    """Steps share the probability of the tokens that may not be written among the others."""
    batcher, generator = batcher_of(made_once), generator_of_exported()
    (written,) = batcher.write([SlotPrompt("the fox", ASKED[3])])
    (prompt,) = generator.framing.read(["the fox"])
    ids = [*prompt.ids, *written.ids, *([END] if written.ended == "end" else [])]
    asked = {"ids": [ids, [END] * len(ids)], "length": [len(ids), 1]}
    found = batcher.loaded.run("score_tokens", asked)["log_probabilities"][0]
    logits = plain_logits(generator, ids).numpy()[len(prompt.ids) - 1 : -1].astype("float64")
    ruled_out = np.where(generator.framing.may_write, 0.0, -np.inf)
    share = np.logaddexp.reduce(logits + ruled_out, axis=1) - np.logaddexp.reduce(logits, axis=1)
    np.testing.assert_allclose(
        found[len(prompt.ids) :], np.array(written.log_probabilities) + share, atol=1e-5
    )


def test_biases_of_a_slot_are_those_of_the_generator(made_once):
    """Next to a text without any. Of the tokens alone, and not of their probabilities."""
    biases = {"fox": 6.0, "cat": -30.0, ".": 2.5, "[SEP]": -1e4}
    by_id = {PIECES.index(piece): value for piece, value in biases.items()}
    asked = [{"max_new_tokens": 7, "frequency_penalty": each} for each in (0.0, 2.0)]
    prompts = [SlotPrompt("the fox", asked[0]), SlotPrompt("the fox", asked[1], logit_bias=by_id)]
    plain, biased = sorted(batcher_of(made_once).write(prompts), key=lambda each: each.number)
    requests = [
        GenerationRequest.with_values({**each, "logit_bias": bias, "log_probabilities": True})
        for each, bias in zip(asked, ({}, biases))
    ]
    with eagerly():
        expected = generator_of_exported().generate(["the fox"] * 2, requests)
    for found, alone in zip((plain, biased), expected):
        assert found.ids == own_ids(alone)
        np.testing.assert_allclose(found.log_probabilities, alone.log_probabilities, atol=1e-4)
        check_likeliest(found)
    assert plain.ids != biased.ids


def test_a_prompt_of_ids_is_read_as_it_is(made_once):
    batcher = batcher_of(made_once)
    ids = batcher.loaded.run("tokenize", {"text": [b"the fox"], "max_new_tokens": [5]})["ids"][0].tolist()
    texts = {each.ids for each in batcher.write(["the fox", SlotPrompt(ids=ids)])}
    assert len(texts) == 1
    most, rows = batcher.described["prompt_lengths"][-1], len(PIECES)
    for wrong in ([], [1] * (most + 1), [rows], [-1]):
        with pytest.raises(ValueError, match=r"^ids: "):
            batcher.join(SlotPrompt(ids=wrong))
    for wrong in ({rows: 1.0}, {1: float("nan")}, {1: 1e5}, dict.fromkeys(range(17), 1.0)):
        with pytest.raises(ValueError, match=r"^logit_bias: "):
            batcher.join(SlotPrompt("the fox", logit_bias=wrong))
    assert batcher.free == 2


def test_a_text_next_to_others_that_join_and_are_cut_off(made_once):
    expected = [own_ids(each) for each in expected_of(generator_of_exported())]
    batcher = batcher_of(made_once)
    first, cut = (batcher.join(SlotPrompt(TEXTS[each], ASKED[each])) for each in (1, 3))
    assert [each.ids for each in batcher.step()] == [expected[1][:1], expected[3][:1]]
    with pytest.raises(ValueError, match="2 slots"):
        batcher.join("the")
    batcher.end(cut)
    batcher.end(cut)
    last, found = batcher.join(SlotPrompt(TEXTS[2], ASKED[2])), {}
    while batcher.free < 2:
        found |= {each.number: each.ids for each in batcher.step()}
    assert found == {first: expected[1], last: expected[2]}
    assert batcher.step() == []


def test_a_slot_that_waits_goes_on_as_if_nothing_had_happened(made_once):
    """Idle steps between its own, to the last place of its row."""
    batcher = batcher_of(made_once)
    model, described = batcher.loaded, batcher.described
    values = {key: [each] * 2 for key, each in {**ASKED[3], "max_new_tokens": 64}.items()}
    ids = model.run("tokenize", {"text": [TEXTS[3].encode()], "max_new_tokens": [64]})["ids"][0]
    model.run("prefill", prefill_request(1, ids).inputs)
    found = []
    for number in range(2 * LENGTH):
        active = [False, number % 2 == 1]
        found.append(model.run("step", step_request(described, active, **values).inputs)["token"][1])
    written = [int(each) for each in found[1::2] if each]
    assert not any(found[::2])
    with eagerly():
        whole = generator_of_exported().generate(TEXTS[3], OF_KIND[3])
    assert tuple(written) == whole.ids


def test_a_step_that_fails_half_way_loses_the_texts_of_all_slots(monkeypatch):
    """The next step names it, and a slot that reads its prompt again writes as before."""
    batcher = batcher_op_by_op(served_by(generator_of_exported()))
    prompt = SlotPrompt("the fox", {"max_new_tokens": 3})
    (expected,) = batcher.write([prompt])
    first, second = batcher.join(prompt), batcher.join("a cat")
    batcher.step()

    def failing(*arguments):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(SlotWriter, "stepped", failing)
        with pytest.raises(MemoryError):
            batcher.step()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"active: .*lost"):
        batcher.step()
    batcher.end(first)
    batcher.join(prompt)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"active: .*no prompt"):
        batcher.step()
    batcher.end(second)
    found = []
    while batcher.free < 2:
        found = batcher.step()
    assert found[0].ids == expected.ids


def test_slots_reply_to_dialogues_as_the_generator_does():
    """As JSON, which the template frames. The third one loses its oldest turns."""
    generator = generator_of_dialogues(length=24)
    batcher = batcher_op_by_op(served_by(generator))
    assert batcher.described["prompted_with"] == "turns"
    assert not [*export_conflicts(served_by(generator).recipe)]
    assert "no place" in next(export_conflicts(served_by(generator, slot_length=6).recipe))
    dialogues = [
        SAID,
        [{"role": "user", "content": ' a "word"\t[SEP]\n\u00e9 '}],
        [SAID[0], *SAID[1:3] * 3, SAID[3]],
    ]
    asked = [SlotPrompt(json.dumps(each), {"max_new_tokens": 3}) for each in dialogues]
    found = sorted(batcher.write(asked), key=lambda each: each.number)
    for written, each in zip(found, dialogues, strict=True):
        with eagerly():
            reply = generator.reply(each, max_new_tokens=3)
        assert (written.ids, written.ended, written.text) == (own_ids(reply), reply.ended, reply.text)
        ids = [generator.tokenizer.token_to_id(piece) for piece in reply.prompt_tokens]
        assert batcher.tokenize(json.dumps(each)).tolist() == ids
    for text in ("the cat", json.dumps(SAID[:3]), '[{"role": "user", "content": "\\ud800"}]'):
        with pytest.raises(ValueError, match=r"text: .*JSON"):
            batcher.join(text)
    assert batcher.free == 2


class Rule(CompiledConstraint, Matcher):
    """A constraint of one's own: a function from the tokens so far to those that may come next."""

    complete = True

    def __init__(self, rule, ids=()):
        self.rule, self.ids = rule, list(ids)

    def new_matcher(self, most_tokens):
        return self.copy()

    def write_mask(self, words):
        bits = np.zeros(32 * len(words), bool)
        bits[: len(PIECES)] = self.rule(self.ids)
        words[:] = np.packbits(bits, bitorder="little").view("<i4")

    def accept(self, token):
        self.ids.append(token)

    def take_back(self, count):
        del self.ids[len(self.ids) - count :]

    def copy(self):
        return Rule(self.rule, self.ids)


def test_a_mask_rules_out_tokens(made_once):
    """The likeliest of the tokens that may come, at each place; the log probability is the model's own."""
    even = np.arange(len(PIECES)) % 2 == 0

    def may_come(ids):
        return even if len(ids) % 2 == 0 else ~even

    free = SlotPrompt("the fox", {"max_new_tokens": 6})
    batcher = batcher_of(made_once)
    found = [*batcher.write([free, free._replace(constraint=Rule(may_come))])]
    plain, ruled = sorted(found, key=lambda each: each.number)
    ids = [*ruled.ids, *([3] if ruled.ended == "end" else [])]
    assert [each % 2 for each in ids] == [0, 1, 0, 1, 0, 1][: len(ids)]
    barred = {PIECES[each]: -1e4 for each in range(len(PIECES)) if not even[each]}
    biased = {"max_new_tokens": 1, "logit_bias": barred, "log_probabilities": True}
    requests = [GenerationRequest.with_values(each) for each in ({"max_new_tokens": 6}, biased)]
    with eagerly():
        alone, first = generator_of_exported().generate(["the fox"] * 2, requests)
    assert plain.ids == own_ids(alone)
    assert first.ids == ruled.ids[:1]
    np.testing.assert_allclose(ruled.log_probabilities[:1], first.log_probabilities, atol=1e-4)


CHOICES = TextChoices(choices=("fox the dog", "cat"))


def test_a_text_under_a_constraint_next_to_a_free_one(made_once):
    """Token by token, from what the export keeps of the tokens; then one that no token can continue."""
    batcher, asked = batcher_of(made_once), {"max_new_tokens": 7, "temperature": 1.5, "min_new_tokens": 5}
    prompts = [
        SlotPrompt("the fox", {**asked, "seed": seed}, constraint)
        for seed in range(3)
        for constraint in (CHOICES, Regex(pattern="(the |a )+fox"), None)
    ]
    steps = {}
    for each in batcher.stream(prompts):
        steps.setdefault(each.number, []).append(each)
    found = [each[-1] for _, each in sorted(steps.items())]
    for number, each in enumerate(found):
        held, pattern = number % 3 != 2, ("(fox the dog|cat)", "(the |a )+fox")[number % 3 % 2]
        shown = [every.text for every in steps[each.number]]
        assert each.complete == (each.ended == "end" if held else None)
        assert all(later.startswith(text) for text, later in itertools.pairwise(shown))
        if each.complete:
            assert re.fullmatch(pattern, each.text)
    # A least number of tokens keeps no text from its end.
    assert {found[number].ended for number in (0, 3, 6)} == {"end"}
    assert any(found[number].complete for number in (1, 4, 7))
    (alone,) = batcher.write([prompts[2]])
    assert alone[1:] == found[2][1:]
    nothing, free = (SlotPrompt("a", {"max_new_tokens": 3}, each) for each in (ends_after(1), None))
    stuck, other = sorted(batcher.write([nothing, free]), key=lambda each: each.number)
    assert (stuck.ended, stuck.complete, len(stuck.ids), len(stuck.log_probabilities)) == (
        "stuck",
        False,
        1,
        1,
    )
    assert other.ended in ("end", "length") and other.complete is None


def ends_after(count):
    """A rule that lets no token come after some tokens, nor the end."""
    no_end = np.array([piece != "[SEP]" for piece in PIECES])
    return Rule(lambda ids: no_end & (len(ids) < count))


def test_constraints_that_cannot_be_held_to_are_refused(made_once, tmp_path):
    batcher = batcher_of(made_once)
    for wrong in (Regex(pattern="("), Grammar(grammar="start: x")):
        for _ in range(2):
            with pytest.raises(ValueError, match=wrong.kind):
                batcher.join(SlotPrompt("a", {}, wrong))
    assert batcher.free == 2
    shutil.copytree(exported(made_once), tmp_path / "model")
    (tmp_path / "model" / FOLDER / FILE).unlink()
    with pytest.raises(ValueError, match="export the model again"):
        ContinuousBatcher(tmp_path / "model", batcher.loaded).join(SlotPrompt("a", {}, CHOICES))


def test_shorter_rows_take_shorter_texts():
    """`[CLS]` and the prompt's two tokens leave five places, and one token is not read.

    No likeliest tokens are asked for.
    """
    no_end = np.array([piece != "[SEP]" for piece in PIECES])
    prompt = SlotPrompt("the fox", constraint=Rule(lambda ids: no_end))
    served = served_by(generator_of_exported(), slot_length=8, top_log_probabilities=0)
    (written,) = batcher_op_by_op(served).write([prompt])
    assert written.top == ((),) * 6
    with eagerly():
        whole = generator_of_exported().generate("the fox", logit_bias={"[SEP]": -1e4})
    assert (written.ids, written.ended) == (whole.ids[:6], "length")
    assert len(whole.ids) == 12


def test_what_cannot_be_asked_is_refused(made_once, tmp_path):
    batcher = batcher_of(made_once)
    with pytest.raises(ValueError, match=r"temprature.* temperature"):
        batcher.join(SlotPrompt("a", {"temprature": 1.0}))
    with pytest.raises(ValueError, match=r"top_p: .*not 0.0"):
        batcher.join(SlotPrompt("a", {"top_p": 0.0}))
    assert batcher.free == 2
    shutil.copytree(exported(made_once), tmp_path / "model")
    description = tmp_path / "model" / FOLDER / DESCRIPTION
    described = json.loads(description.read_text())
    del described["slots"]
    description.write_text(json.dumps(described))
    with pytest.raises(ValueError, match=r"export.slots"):
        ContinuousBatcher(tmp_path / "model")


@pytest.mark.repeated
def test_weights_that_are_read_from_a_bundle_write_the_same(tmp_path):
    served = served_by(generator_of_exported())
    outline = build_outline(served.recipe)
    with open_weights(bundle_of(served, tmp_path)) as file:
        weights = StreamedWeights(outline, file)
    for room, variable in zip(weights.variables, served.model.variables, strict=True):
        room.assign(variable)
    batcher = batcher_op_by_op(Served(outline, served.tokenizer, served.recipe), weights.bind)
    found = sorted(batcher.write(map(SlotPrompt, TEXTS[:2], ASKED)), key=lambda each: each.number)
    assert [each.ids for each in found] == [
        own_ids(each) for each in expected_of(generator_of_exported())[:2]
    ]
