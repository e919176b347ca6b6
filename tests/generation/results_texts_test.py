"""Texts in and out: stops, pieces of a stream, and input that cannot be written after."""

import contextlib
import threading

import numpy as np
import pytest

from firth.generation.framing import PromptFraming
from firth.generation.results import TextInProgress
from firth.generation.streamed_batch import StreamedBatch
from firth.generation.writer import AT_LENGTH, RUNNING, DecodedTexts
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tokenizers.tokenizer import BytePairTokenizerConfig
from firth.tokenizers import BytePairTokenizer
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from tests.generation.cases import eagerly, generator_of
from tests.models.table import MODELS, tiny_recipe

PROMPT = "the fox"


@eagerly()
def test_a_stop_ends_the_text_before_it_across_tokens():
    generator = generator_of("causal_lm")
    whole = generator.generate(PROMPT, max_new_tokens=6)
    first, second = whole.text.split()[:2]
    stop = f"{first[-1]} {second[0]}"
    found = generator.generate(PROMPT, max_new_tokens=6, stop=["never there", stop])
    assert (found.text, found.ended) == (whole.text[: whole.text.index(stop)], "stop")
    never = generator.generate(PROMPT, max_new_tokens=6, stop=["never there"])
    assert (never.text, never.ended) == (whole.text, "length")


@eagerly()
def test_pieces_of_a_stream_are_the_text():
    generator = generator_of("causal_lm")
    request = {"max_new_tokens": 6, "temperature": 1.5, "seed": 3}
    stream = generator.stream(PROMPT, request)
    with pytest.raises(ValueError, match="not ended"):
        _ = stream.result
    pieces = list(stream)
    assert stream.result == generator.generate(PROMPT, request)
    assert "".join(pieces) == stream.result.text and len(pieces) == 6
    stop = stream.result.text[3:9]
    assert "".join(generator.stream(PROMPT, request, stop=[stop])) == stream.result.text[:3]


@pytest.mark.parametrize(
    ("sampler", "calls"),
    [
        ("greedy", contextlib.nullcontext),
        ("beam", eagerly),
        pytest.param("beam", contextlib.nullcontext, marks=pytest.mark.repeated),
    ],
)
def test_a_graph_that_streams_ends_with_its_reader(sampler, calls):
    """One call of the graph writes all tokens of a stream, which is left after two pieces."""
    generator = generator_of("causal_lm")
    request = {"max_new_tokens": 6, "min_new_tokens": 6, "sampler": {"kind": sampler}}
    with calls():
        stream = generator.stream(PROMPT, request)
        assert "".join(stream) == stream.result.text == generator.generate(PROMPT, request).text
        left = generator.stream(PROMPT, request)
        pieces = iter(left)
        next(pieces)
        left.close()
    assert not generator._streams and "firth-stream" not in [each.name for each in threading.enumerate()]


def test_an_iterator_that_a_thread_of_the_graph_collects_does_not_wait_for_the_graph():
    batch, left, waited = StreamedBatch(1), threading.Event(), []

    def write():
        batch.take(np.zeros([1]))
        left.wait(10)
        of_graph = threading.Thread(target=blocks.close, daemon=True)
        of_graph.start()
        of_graph.join(10)
        waited.append(of_graph.is_alive())

    blocks = batch.read(write)
    next(blocks)
    left.set()
    (writing,) = [each for each in threading.enumerate() if each.name == "firth-stream"]
    writing.join(20)
    assert waited == [False] and batch.take(np.zeros([1])).all()


def test_a_slow_reader_gets_the_newest_texts_and_all_errors():
    def write():
        for step in range(100):
            batch.take(np.array([step]))
        raise ValueError("after the texts")

    batch, found = StreamedBatch(1), []
    with pytest.raises(ValueError, match="after the texts"):
        for (texts,) in batch.read(write):
            found.append(int(texts[0]))
            if len(found) == 1:
                # The thread may have ended already.
                for each in threading.enumerate():
                    if each.name == "firth-stream":
                        each.join(10)
    assert found == sorted(found) and found[-1] == 99 and len(found) < 100


def test_half_a_character_is_never_given():
    """Four tokens are the bytes of one character; a text that ends within a character says so."""
    pieces = [*SPECIAL_PIECES, *byte_pieces()]
    config = BytePairTokenizerConfig(vocabulary_size=272)
    recipe = tiny_recipe(MODELS["gpt2"], objective=CausalLM(), tokenizer=config)
    framing = PromptFraming(recipe, BytePairTokenizer(pieces))
    (prompt,) = framing.read(["a"])
    ids = np.array(framing.read(["né🦊"])[0].own, np.int32)
    zeros = np.zeros(len(ids), np.float32)

    def texts(stop, last):
        text = TextInProgress(framing, prompt, GenerationRequest(stop=stop))
        for count in range(1, last + 1):
            text.take(DecodedTexts(ids, zeros, count, AT_LENGTH if count == last else RUNNING))
            yield text.settled

    assert list(texts((), len(ids))) == ["n", "n", "né", "né", "né", "né", "né🦊"]
    assert list(texts((), len(ids) - 1))[-1] == "né\ufffd"
    # What may begin a stop is held back until it is known.
    assert list(texts(("é!",), len(ids)))[:4] == ["n", "n", "n", "n"]


@pytest.mark.parametrize(
    ("prompts", "values", "named"),
    [
        ([""], {}, "prompt 0: .*empty"),
        ([PROMPT, "  "], {}, "prompt 1: .*empty"),
        (["a " * 20], {}, "prompt 0: .*21 tokens.* 14$"),
        ([b"fox \xff"], {}, "prompt 0: .*UTF-8 from place 4"),
        (["\ud800"], {}, "prompt 0: .*UTF-8 from place 0"),
        ([PROMPT], {"max_new_tokens": 0}, "max_new_tokens: .*1, not 0"),
        ([PROMPT], {"temperature": -1.0}, r"sampler\.temperature: .*0, not -1.0"),
        ([PROMPT], {"top_p": 1.5}, r"sampler\.top_p: .*1, not 1.5"),
        ([PROMPT], {"top_q": 0.5}, "top_q: .*top_p"),
        ([PROMPT], {"repetition_penalty": 0.0}, "repetition_penalty: .*0, not 0.0"),
        ([PROMPT], {"seed": "x"}, "seed: .*integer.*'x'"),
        ([PROMPT], {"seed": 1.5}, "seed: .*integer.* 1.5"),
        ([PROMPT], {"seed": -1}, "seed: .*0, not -1"),
        ([PROMPT], {"stop": [""]}, r"stop\.0: .*1 character"),
        (
            [PROMPT],
            {"logit_bias": {"fxo": 1.0}},
            "logit_bias: .*'fxo'.* fox",
        ),
        (
            [PROMPT],
            {"sampler": {"kind": "gredy"}},
            "sampler: kind: .*'gredy'.* greedy",
        ),
    ],
)
def test_bad_input(prompts, values, named):
    with pytest.raises(ValueError, match=f"^(GenerationRequest: )?{named}"):
        generator_of("causal_lm").generate(prompts, values)


def test_models_that_do_not_write():
    recipe = tiny_recipe(MODELS["bert"], objective=MaskedLM(max_predictions=3))
    with pytest.raises(ValueError, match="masked_lm"):
        PromptFraming(recipe, generator_of("causal_lm").tokenizer)
    with pytest.raises(ValueError, match="predicts none"):
        generator_of("denoising").generate(PROMPT, prompt_log_probabilities=True)


@eagerly()
def test_a_text_ends_where_the_positions_do():
    """Its last token is not read, so that it needs no position."""
    found = generator_of("causal_lm").generate("the fox jumps over the lazy dog", max_new_tokens=64)
    assert len(found.prompt_tokens) + len(found.ids) == 15 and found.ended == "length"
