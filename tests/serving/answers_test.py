import pytest

from firth.recipes import load_recipe
from firth.serving.answers import answer_lines, printed_fields
from firth.serving.signatures import text_signatures

ONE_MASK = {"pieces": [["cat", "dog"], ["", ""]], "scores": [[0.75, 0.25], [0.0, 0.0]], "mask_count": 1}
TWO_MASKS = {**ONE_MASK, "pieces": [["cat", "dog"], ["a", "b"]], "mask_count": 2}
SCORED = {"pieces": ["a", "cat", ""], "log_probabilities": [-1.0, -3.0, 0.0], "log_probability": -4.0}
CAT, DOG = {"piece": "cat", "score": 0.75}, {"piece": "dog", "score": 0.25}


def described(preset, name):
    return text_signatures(load_recipe(preset))[name].describe()["answer"]


@pytest.mark.parametrize(
    ("preset", "name", "outputs", "values", "shown"),
    [
        ("bert_tiny", "fill_mask", ONE_MASK, {"masks": [[CAT, DOG]]}, ["[MASK]: cat 0.750  dog 0.250"]),
        (
            "bert_tiny",
            "fill_mask",
            TWO_MASKS,
            {"masks": [[CAT, DOG], [{"piece": "a", "score": 0.0}, {"piece": "b", "score": 0.0}]]},
            ["[MASK] 1: cat 0.750  dog 0.250", "[MASK] 2: a 0.000  b 0.000"],
        ),
        ("bert_tiny", "fill_mask", {**ONE_MASK, "mask_count": 0}, {"masks": []}, []),
        (
            "bert_tiny",
            "embed",
            {"embedding": [0.5] * 7, "truncated": False},
            {"embedding": [0.5] * 7, "truncated": False},
            [f"[{', '.join(['0.5000'] * 6)}, ...] (7 values; --json prints all)"],
        ),
        (
            "gpt2_tiny",
            "score",
            {**SCORED, "token_count": 2, "truncated": True, "tokens_read": 2, "tokens_given": 6000},
            {
                "log_probability": -4.0,
                "pieces": ["a", "cat"],
                "log_probabilities": [-1.0, -3.0],
                "truncated": True,
                "tokens_read": 2,
                "tokens_given": 6000,
            },
            ["-4.000 nats: a -1.00  cat -3.00", "truncated: 2 of 6,000 tokens were read"],
        ),
        (
            "bert_tiny",
            "embed_tokens",
            {"pieces": ["a", ""], "embeddings": [[1.0], [0.0]], "token_count": 1},
            {"pieces": ["a"], "embeddings": [[1.0]], "token_count": 1},
            ['pieces: ["a"]', "embeddings: [[1.0]]", "token_count: 1"],
        ),
    ],
)
def test_a_signature_says_what_is_told_of_its_answer(preset, name, outputs, values, shown):
    answer = described(preset, name)
    assert printed_fields(answer, outputs) == values
    assert answer_lines(answer, values) == shown


def test_an_answer_that_nothing_is_said_about_is_told_whole():
    assert printed_fields({}, {"b": [1, 2], "a": "x"}) == {"b": [1, 2], "a": "x"}
    assert answer_lines({}, {"b": [1, 2], "a": "x"}) == ["b: [1, 2]", 'a: "x"']


def test_text_in_an_answer_is_no_template():
    assert answer_lines({"lines": "{{ piece }}"}, {"piece": "{{ 1 + 1 }} <b>"}) == ["{{ 1 + 1 }} <b>"]
