from firth.recipes.corpus.sources import TfrecordSource
from tests.corpus.readers.reading import outcomes
from tests.corpus.source_files import example, tfrecord


def test_broken_tfrecords(tmp_path):
    one, two, three = (tfrecord([example(text=text)]) for text in (b"One.", b"Two.", b"Three."))
    wrong_sum = two[:-4] + bytes(4)
    wrong_length = b"\x01" + two[1:]
    no_example = tfrecord([b"no example"])
    table = {
        one + wrong_sum + three: ["One.", (2, "corrupt_record"), "Three."],
        one + wrong_length + three: ["One.", (2, "corrupt_length")],
        one + no_example + three: ["One.", (2, "malformed_example"), "Three."],
        one + two[:-1]: ["One.", (2, "truncated_record")],
        one + two[:12]: ["One.", (2, "truncated_record")],
        one + two[:5]: ["One.", (2, "truncated_record")],
        tfrecord([example(text=b"\xff"), example(text=3), example(other=b"x")]): [
            (1, "invalid_utf8"),
            (2, "text_not_a_string"),
            (3, "missing_text_key"),
        ],
    }
    for content, expected in table.items():
        (tmp_path / "a").write_bytes(content)
        assert outcomes(TfrecordSource(kind="tfrecord", paths=(f"{tmp_path}/a",))) == expected
