"""Tokenizers like those of published models, trained by the sentencepiece package in a moment."""

import functools
import io
import json

import sentencepiece
import tokenizers
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers

from firth.tokenizers.graph.sentencepiece_model import parse_model
from tests.interop.hugging_face.tokenizers.lines import SAMPLE

WORDS = pre_tokenizers.WhitespaceSplit()
QUOTES = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
SINGLE = normalizers.Replace(Regex(" {2,}"), " ")
DECOMPOSED = [normalizers.NFKD(), normalizers.StripAccents()]


@functools.cache
def train(kind, size, specials, **settings):
    """The bytes of a model whose first pieces are `specials`, in the order of their ids."""
    written = io.BytesIO()
    ids = {f"{role}_id": -1 for role in ("bos", "eos", "pad", "unk")}
    for role, piece in (("pad", "<pad>"), ("pad", "[PAD]"), ("unk", "<unk>"), ("unk", "[UNK]")):
        if piece in specials:
            ids |= {f"{role}_id": specials.index(piece), f"{role}_piece": piece}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SAMPLE.splitlines()),
        model_writer=written,
        model_type=kind,
        vocab_size=size,
        hard_vocab_limit=False,
        control_symbols=[piece for piece in specials if piece not in ids.values()],
        minloglevel=2,
        **{**ids, **settings},
    )
    return written.getvalue()


def _meta_space(scheme="always", split=True):
    return pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=scheme, split=split)


def _unigram(proto, normalizer, pre_tokenizer, added, more=()):
    vocabulary = [(piece.piece, piece.score) for piece in proto.pieces] + [(piece, 0.0) for piece in more]
    made = tokenizers.Tokenizer(models.Unigram(vocabulary, proto.trainer_spec.unk_id, False))
    charsmap = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
    made.normalizer = normalizers.Sequence([charsmap if each is None else each for each in normalizer])
    made.pre_tokenizer = pre_tokenizers.Sequence(pre_tokenizer)
    made.add_special_tokens([AddedToken(each, normalized=False) for each in added if isinstance(each, str)])
    made.add_special_tokens([each for each in added if not isinstance(each, str)])
    return made


def albert():
    specials = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    model = train("unigram", 300, specials, normalization_rule_name="nmt_nfkc_cf")
    steps = [*QUOTES, *DECOMPOSED, normalizers.Lowercase(), None, SINGLE]
    added = [*specials[:4], AddedToken("[MASK]", lstrip=True, normalized=False)]
    return model, _unigram(parse_model(model), steps, [WORDS, _meta_space()], added)


def xlnet():
    specials = ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>")
    model = train("unigram", 300, specials)
    added = [piece for piece in specials if piece != "<mask>"]
    added.append(AddedToken("<mask>", lstrip=True, normalized=True))
    steps = [*QUOTES, *DECOMPOSED, None, SINGLE]
    return model, _unigram(parse_model(model), steps, [WORDS, _meta_space()], added)


def deberta():
    specials = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
    model = train("unigram", 300, specials)
    added = [*specials[:3], AddedToken("[UNK]", normalized=True), AddedToken("[MASK]", normalized=False)]
    return model, _unigram(parse_model(model), [normalizers.Strip(), None, SINGLE], [_meta_space()], added)


def t5():
    specials, sentinels = ("<pad>", "</s>", "<unk>"), [f"<extra_id_{n}>" for n in reversed(range(5))]
    model = train("unigram", 300, specials)
    added = [*specials, *sentinels]
    return model, _unigram(parse_model(model), [None], [WORDS, _meta_space()], added, sentinels)


def llama(legacy=True):
    specials = ("<unk>", "<s>", "</s>")
    model = train(
        "bpe",
        600,
        specials,
        byte_fallback=True,
        split_digits=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
    )
    pieces = [piece.piece for piece in parse_model(model).pieces]
    ids = {piece: index for index, piece in enumerate(pieces)}
    # As transformers makes them of a model.
    merges = [
        (piece[:end], piece[end:])
        for piece in pieces
        for end in range(1, len(piece))
        if piece[:end] in ids and piece[end:] in ids and piece not in specials
    ]
    made = tokenizers.Tokenizer(models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if legacy:
        steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        made.normalizer = normalizers.Sequence(steps)
    else:
        made.pre_tokenizer = _meta_space("first", split=False)
    made.add_special_tokens([AddedToken(piece, normalized=False) for piece in specials])
    return model, made


SHAPES = {
    "albert": albert,
    "xlnet": xlnet,
    "deberta-v2": deberta,
    "t5": t5,
    "llama": llama,
    "llama, not legacy": lambda: llama(legacy=False),
}
MODEL_FILES = {"deberta-v2": "spm.model", "llama": "tokenizer.model"}


def write(folder, made, **changed):
    content = json.loads(made.to_str())
    (folder / "tokenizer.json").write_text(json.dumps({**content, **changed}))
    return folder
