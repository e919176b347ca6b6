"""KerasHub's classes of tokenizers."""

from firth.interop.keras_hub.tokenizers.byte_pair import BYTE_PAIR
from firth.interop.keras_hub.tokenizers.format import PresetTokenizer
from firth.interop.keras_hub.tokenizers.sentence_piece import SENTENCE_PIECE, SENTENCE_PIECE_OF_T5
from firth.interop.keras_hub.tokenizers.word_piece import WORD_PIECE

CLASSES: dict[str, PresetTokenizer] = {
    **dict.fromkeys(("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"), WORD_PIECE),
    **dict.fromkeys(
        ("AlbertTokenizer", "DebertaV3Tokenizer", "LlamaTokenizer", "SentencePieceTokenizer"), SENTENCE_PIECE
    ),
    "T5Tokenizer": SENTENCE_PIECE_OF_T5,
    **dict.fromkeys(("RobertaTokenizer", "GPT2Tokenizer", "Llama3Tokenizer", "BartTokenizer"), BYTE_PAIR),
}
