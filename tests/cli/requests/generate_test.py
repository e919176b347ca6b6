import functools
import json
from unittest import mock

import numpy as np
import pytest

from firth.generation.engines import load_generator
from firth.models import save_model
from firth.tokenizers import save_tokenizer
from tests.generation.cases import generator_of
from tests.interop.ctranslate2.exporting_test import written
from tests.models.table import MODELS, TRAINED

pytestmark = pytest.mark.usefixtures("eager")
PROMPT = "the fox"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    generator, folder = generator_of("causal_lm"), tmp_path_factory.mktemp("model")
    save_tokenizer(generator.tokenizer, folder / "tokenizer")
    save_model(generator.model, generator.recipe, folder / "tokenizer", folder / "bundle")
    return str(folder / "bundle")


@pytest.fixture(scope="module", autouse=True)
def _loaded_once():
    """Loads each bundle once for all commands that write with it."""
    with mock.patch("firth.generation.engines.load_generator", functools.cache(load_generator)):
        yield


def expected(**values):
    return generator_of("causal_lm").generate(PROMPT, max_new_tokens=3, **values)


@functools.cache
def greedy_text():
    return expected().text


def ask(firth, bundle, *arguments):
    return firth("generate", bundle, PROMPT, "--max-new-tokens", "3", *arguments)


def test_a_text_stands_alone_on_stdout(firth, bundle):
    result = ask(firth, bundle)
    assert result.exit_code == 0, result.output
    assert result.stdout == greedy_text() + "\n" and result.stderr == ""


def test_values_of_the_request_and_of_the_sampler(firth, bundle):
    result = ask(
        firth, bundle, "--temperature", "2", "--top-k", "9", "--seed", "3", "--logit-bias", "fox=-9.5"
    )
    values = {"temperature": 2.0, "top_k": 9, "logit_bias": {"fox": -9.5}}
    assert result.stdout == expected(seed=3, **values).text + "\n", result.output


def test_several_texts_of_one_prompt(firth, bundle):
    result = ask(firth, bundle, "--temperature", "2", "--n", "2", "--json")
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["generated"] for each in told] == [
        expected(temperature=2.0, seed=seed).text for seed in (0, 1)
    ]
    assert [each["seed"] for each in told] == [0, 1] and told[0]["prompt"] == PROMPT
    # The seed of one text is that of the request.
    assert "seed" not in json.loads(ask(firth, bundle, "--temperature", "2", "--json").stdout)


def test_the_best_texts_of_a_search(firth, bundle):
    values = {"beams": 3, "n_best": 2}
    found = expected(**values)
    assert ask(firth, bundle, "--beams", "3", "--n-best", "2").stdout == (
        f"{found.text}\n{found.others[0].text}\n"
    )


def test_streamed_with_probabilities_on_stderr(firth, bundle):
    result = ask(firth, bundle, "--stream", "--log-probabilities")
    assert result.stdout == greedy_text() + "\n"
    first = expected(log_probabilities=True).log_probabilities[0]
    assert result.stderr.startswith("text: ") and f"{first:.3f}" in result.stderr


def test_the_engine_writes_the_same(firth, bundle, tmp_path, monkeypatch):
    pytest.importorskip("ctranslate2")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    result = ask(firth, bundle, "--engine", "ctranslate2")
    assert result.stdout == greedy_text() + "\n", result.output
    # The folder that was made is a model of its own, whose engine need not be named.
    (made,) = (tmp_path / "firth" / "ctranslate2").iterdir()
    assert ask(firth, str(made)).stdout == greedy_text() + "\n"
    result = ask(firth, str(made), "--dtype", "int8")
    assert result.exit_code == 2 and "quantization: the weights in" in result.stderr


def test_a_file_of_prompts(firth, bundle, tmp_path):
    lines = ['{"said": "the fox"}', "no", '{"said": ""}', json.dumps({"said": "a " * 50}), '{"said": "dogs"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    files = ("--input", "a.jsonl", "--output", "b.jsonl", "--column", "said", "--max-new-tokens", "3")
    result = firth("generate", bundle, *files)
    assert result.exit_code == 0, result.output
    counts = "2 records answered, 3 could not be read (empty_text 1, not_a_prompt 1, not_json 1)"
    assert result.stdout == f"b.jsonl: {counts}\n"
    assert "a.jsonl:4: not_a_prompt: it has 51 tokens" in result.stderr
    told = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [(each["line"], each["text"]) for each in told] == [(1, "the fox"), (5, "dogs")]
    assert told[0]["generated"] == greedy_text() and told[0]["ended"] == "length"


REFUSED = {
    ("--top-k", "0"): "--top-k: must be greater than or equal to 1, not 0",
    ("--top-k", "many"): "--top-k: must be a valid integer, not 'many'",
    ("--seed", "-1"): "--seed: must be greater than or equal to 0",
    ("--sampler", "sampel"): "--sampler: there is no 'sampel'; did you mean sample?",
    ("--sampler", "greedy", "--top-p", "0.5"): "--top-p: the sampler greedy has no such value; sample has",
    ("--logit-bias", "fox"): "--logit-bias fox: expected TOKEN=NUMBER",
    ("--logit-bias", "foxx=1"): "the vocabulary has no token 'foxx'; did you mean fox?",
    ("--temprature", "1"): "--temperature",
    ("--n", "2"): "the sampler greedy writes one text; give --sampler sample",
    ("--engine", "kears"): "engine: there is no 'kears'; did you mean keras?",
    ("--input", "a.txt"): "--input and --output are given together",
    ("--column", "a"): "--column names a column of --input",
    ("--stream", "--json"): "--stream prints plain text",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_a_wrong_value_is_named(firth, bundle, arguments):
    result = firth("generate", bundle, PROMPT, *arguments)
    assert result.exit_code == 2 and REFUSED[arguments] in result.stderr, result.output
    assert result.stdout == ""


def test_bad_prompts_and_names(firth, bundle):
    for arguments, problem in (
        ((bundle, ""), "it is empty"),
        ((bundle, "a " * 50), "the model reads 14"),
        ((bundle,), "give a PROMPT"),
        (("no_run", "a"), "is named 'no_run'"),
    ):
        result = firth("generate", *arguments)
        assert result.exit_code == 2 and problem in result.stderr, result.output


def test_a_model_that_does_not_write(firth, tmp_path):
    _, bundle = written(MODELS["bert"], TRAINED["masked_lm"][1], tmp_path)
    for constraint in ((), ("--choice", "a")):
        result = firth("generate", bundle, "a", *constraint)
        assert result.exit_code == 2
        assert "trained for masked_lm writes no text; one of these" in result.stderr
    assert "causal_lm" in result.stderr and f"firth predict {bundle} embed" in result.stderr


def test_vectors_by_the_engine(firth, tmp_path, monkeypatch):
    pytest.importorskip("ctranslate2")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _, bundle = written(MODELS["bert"], TRAINED["masked_lm"][1], tmp_path)
    ask = ("predict", bundle, "embed", "a b", "--json", "--engine")
    told = [json.loads(firth(*ask, engine).stdout) for engine in ("ctranslate2", "keras")]
    assert told[0]["text"] == "a b" and len(told[0]["embedding"]) == 16
    np.testing.assert_allclose(*(each["embedding"] for each in told), rtol=0, atol=1e-4)
    result = firth("predict", bundle, "fill-mask", "a [MASK]", "--engine", "ctranslate2")
    assert result.exit_code == 2 and "there is no signature fill_mask without heads" in result.stderr


def test_a_text_is_one_of_the_choices(firth, bundle):
    result = ask(firth, bundle, "--choice", "lazy dog", "--choice", "cats", "--json")
    found = json.loads(result.stdout)
    assert found["generated"] in ("lazy dog", "cats") and found["complete"], result.output
    # Three tokens end none but these; two leave the longer one without its end.
    assert ask(firth, bundle, "--choice", "lazy dogs").stderr.count("--finish") == 1
    result = ask(firth, bundle, "--regex", "(cats!*|lazy dogs)", "--finish")
    assert result.stdout == "cats\n", result.output


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--choice", "a", "--regex", "a"], "--regex and --choice"),
        (["--white-space", "single"], "--schema"),
        (["--schema", "no.json"], "no.json"),
        (["--schema", __file__], f"{__file__}:1"),
        (["--finish"], "constraint"),
        (["--regex", "("], "unclosed"),
        (["--choice", "a fox", "--finish", "--max-new-tokens", "2"], "at least 3 tokens"),
        # This vocabulary has no brackets.
        (["--regex", r"\{a\}", "--finish"], "byte_fallback"),
    ],
)
def test_a_constraint_that_cannot_be_honoured_ends_the_command(firth, bundle, arguments, named):
    result = ask(firth, bundle, *arguments)
    assert result.exit_code == 2 and named in result.output.replace("\n", " "), result.output
