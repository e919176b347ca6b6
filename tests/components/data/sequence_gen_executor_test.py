"""SequenceGen makes rows of every length that a run trains on, of the same documents."""

import random

import pytest
import tensorflow as tf
from tfx.types import artifact_utils, channel_utils, standard_artifacts

from firth import features
from firth.components import SequenceGen
from firth.components.artifacts import CorpusReport, Tokenizer
from firth.components.data.sequence_gen import Executor
from firth.corpus.decontamination.evidence import FOLDER, list_found_ngrams
from firth.corpus.io.records import write_records
from firth.recipes.run.stages import rows_folder
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from tests.corpus.decontamination.made_evidence import found_ngrams
from tests.corpus.helpers import document, random_text, read_records

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "whale", "ship", "sea", "the"]


def run(directory, stages, typed="", asked=()):
    generator = random.Random(1)
    directory.mkdir(exist_ok=True)
    documents, tokenizer, examples = standard_artifacts.Examples(), Tokenizer(), standard_artifacts.Examples()
    documents.uri, tokenizer.uri, examples.uri = (str(directory / name) for name in ("in", "pieces", "out"))
    report = CorpusReport()
    report.uri = str(directory / "report")
    found_ngrams(["the sea"], ["the sea"]).save(report.uri)
    documents.split_names = artifact_utils.encode_split_names(["train", "eval"])
    for split in ("train", "eval"):
        texts = [document(typed + random_text(generator, 40), f"{split} {index}") for index in range(12)]
        write_records(f"{documents.uri}/Split-{split}", 0, 1, [each.to_example() for each in texts])
    made = WordPieceTokenizer(PIECES, special_texts=asked)
    tokenizer.set_string_custom_property("digest", save_tokenizer(made, tokenizer.uri))
    component = SequenceGen(
        channel_utils.as_channel([documents]),
        channel_utils.as_channel([tokenizer]),
        Sequences(length=32, max_documents=2, shards=2),
        special_tokens=3,
        raw_length=29,
        stages=stages,
    )
    inputs = {"documents": [documents], "tokenizer": [tokenizer], "report": [report]}
    Executor().Do(inputs, {"examples": [examples]}, component.exec_properties)
    return directory / "out"


def rows_in(folder):
    """The tokens of a split's rows."""
    rows = [tf.train.Example.FromString(record) for record in read_records(f"{folder}/*")]
    return [list(row.features.feature[features.RAW_TOKENS].int64_list.value) for row in rows]


def tokens_in(folder):
    """The numbers of tokens of a split's rows."""
    return [len(row) for row in rows_in(folder)]


def test_rows_of_another_length_hold_the_same_tokens(tmp_path):
    made = run(tmp_path, stages={16: 13})
    long, short = tokens_in(made / "Split-train"), tokens_in(made / rows_folder(16) / "Split-train")
    assert max(long) == 29 and max(short) == 13
    assert sum(long) == sum(short) > 0
    assert sorted(path.name for path in (made / rows_folder(16)).iterdir()) == [
        "Split-train",
        "sequence_counts.json",
    ]
    assert not (tmp_path / "out" / rows_folder(32)).exists()
    # What the corpus holds of evaluation data goes with the rows.
    assert len(list_found_ngrams(made / FOLDER)) == 1


@pytest.mark.repeated
def test_what_a_document_types_is_no_special_piece_of_a_row(tmp_path):
    typed = "[MASK] sea[SEP]ship [CLS] [PAD] ［MASK］ [mask] <|endoftext|> <extra_id_0> [MASK][MASK]. "
    special = {PIECES.index(piece) for piece in ("[PAD]", "[CLS]", "[SEP]", "[MASK]")}
    found = [token for row in rows_in(run(tmp_path / "plain", {}, typed) / "Split-train") for token in row]
    assert not special.intersection(found)
    asked = run(tmp_path / "asked", {}, typed, asked=["[SEP]"]) / "Split-train"
    found = [token for row in rows_in(asked) for token in row]
    assert special.intersection(found) == {PIECES.index("[SEP]")} and found.count(3) == 12
