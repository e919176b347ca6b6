"""Causal LM with literal tokens."""

from firth.recipes.objectives.language_models import CausalLM
from tests.objectives.words import LECTURE, made_of, spoken, word_tokenizer

OTHER = "It was fun ."
TOKENIZER = word_tokenizer(LECTURE, OTHER)


def test_causal_lm():
    made = made_of(TOKENIZER, CausalLM(), [LECTURE, OTHER, "fun"])
    assert spoken(TOKENIZER, made["token_ids"]) == f"[CLS] {LECTURE} [CLS] {OTHER} [CLS] fun"
    assert spoken(TOKENIZER, made["label_ids"]) == f"{LECTURE} [SEP] {OTHER} [SEP] fun [SEP]"
    assert made["document_ids"].tolist() == [1] * 12 + [2] * 5 + [3] * 2 + [0]
    assert made["position_ids"].tolist() == [*range(12), *range(5), 0, 1, 0]
    assert made["label_weights"].tolist() == [1.0] * 19 + [0.0]


def test_causal_lm_of_a_full_row():
    """The last label is `[SEP]` and not the row's first token, which is of the same document."""
    made = made_of(TOKENIZER, CausalLM(), [LECTURE], length=12, max_documents=1)
    assert spoken(TOKENIZER, made["label_ids"]) == f"{LECTURE} [SEP]"


def test_documents_without_a_special_token_in_front():
    made = made_of(TOKENIZER, CausalLM(begin="none"), [LECTURE, OTHER, "fun"])
    assert spoken(TOKENIZER, made["token_ids"]) == f"{LECTURE} {OTHER} fun"
    rest = [text.split(" ", 1)[1] for text in (LECTURE, OTHER)]
    assert spoken(TOKENIZER, made["label_ids"]) == f"{rest[0]} [SEP] {rest[1]} [SEP] [SEP]"
    assert made["position_ids"].tolist()[:11] == [*range(11)]
