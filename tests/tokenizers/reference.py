"""Hugging Face's BertTokenizerFast, put together from its Rust library."""

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from tests.tokenizers.golden.hard_strings import SPECIALS


class Reference:
    """Texts to ids as BertTokenizerFast does it with `split_special_tokens`, and without a frame."""

    def __init__(
        self, vocabulary: list[str], lowercase: bool, max_word_characters: int = 100, splits: bool = True
    ):
        ids = {piece: index for index, piece in enumerate(vocabulary)}
        self._tokenizer = tokenizers.Tokenizer(
            models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=max_word_characters)
        )
        self._tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lowercase
        )
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        self._tokenizer.add_special_tokens(
            [tokenizers.AddedToken(special, normalized=False, special=True) for special in SPECIALS]
        )

        # Special pieces that somebody typed are split as other text is.
        self._tokenizer.encode_special_tokens = splits

    def __call__(self, texts: list[str]) -> list[list[int]]:
        return [row.ids for row in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def words(self, text: str, specials: list[str] | tuple[()] = ()) -> list[str]:
        """The words of a text, special pieces left out."""
        for special in specials:
            text = text.replace(special, " ")
        normalized = self._tokenizer.normalizer.normalize_str(text)
        return [word for word, _ in self._tokenizer.pre_tokenizer.pre_tokenize_str(normalized)]
