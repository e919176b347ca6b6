"""The special pieces around texts: Hugging Face has them with the tokenizer, a recipe with its objective."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Framing:
    """Special pieces around one text and around two, by their roles.

    `A` and `B` stand for the texts. A type id follows a colon, 0 where there is none.

    Attributes:
        tokenizer_class: Class of transformers that reads such a tokenizer.
        single: Frame of one text, such as `cls A sep`.
        pair: Frame of two texts.
    """

    tokenizer_class: str = "PreTrainedTokenizerFast"
    single: str = "A"
    pair: str = "A B:1"


_BERT = ("cls A sep", "cls A sep B:1 sep:1")
_ROBERTA = ("cls A sep", "cls A sep sep B sep")
# By the `model_type` of `config.json`.
FRAMINGS: dict[str, Framing] = {
    "bert": Framing("BertTokenizer", *_BERT),
    "electra": Framing("ElectraTokenizer", *_BERT),
    "albert": Framing("AlbertTokenizer", *_BERT),
    "deberta": Framing("DebertaTokenizer", *_BERT),
    "deberta-v2": Framing("DebertaV2Tokenizer", *_BERT),
    "roberta": Framing("RobertaTokenizer", *_ROBERTA),
    "bart": Framing("BartTokenizer", *_ROBERTA),
    "xlnet": Framing("XLNetTokenizer", "A sep cls:2", "A sep B:1 sep:1 cls:2"),
    "t5": Framing("T5Tokenizer", "A sep", "A sep B sep"),
    "llama": Framing("LlamaTokenizer", "cls A", "cls A cls:1 B:1"),
    "gpt2": Framing("GPT2Tokenizer"),
}
