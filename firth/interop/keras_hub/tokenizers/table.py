"""KerasHub's classes of tokenizers."""

from firth.interop.keras_hub.tokenizers.byte_pair import BYTE_PAIR
from firth.interop.keras_hub.tokenizers.format import PresetTokenizer
from firth.interop.keras_hub.tokenizers.word_piece import WORD_PIECE

CLASSES: dict[str, PresetTokenizer] = {
    **dict.fromkeys(("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"), WORD_PIECE),
    **dict.fromkeys(("RobertaTokenizer", "GPT2Tokenizer", "Llama3Tokenizer", "BartTokenizer"), BYTE_PAIR),
}
