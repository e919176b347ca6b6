"""Files of made-up text where `examples/many_sources.yaml` looks for its sources and its evaluation data."""

import gzip
import json
import pathlib

from tests.corpus.source_files import TEXTS, page, response, warc_record

ARTICLE = '<doc id="1" url="http://w/1" title="A">\nA\n\nA is the first letter.\n</doc>\n'
FILES: dict[str, str | bytes] = {
    "gutenberg_books/11_Alice.txt": TEXTS[0],
    "tinyshakespeare/input.txt": "\n\n".join(TEXTS),
    "wiki_extract/wiki_00": ARTICLE,
    "wikitext2/wiki.valid.raw": TEXTS[1],
    "wikitext2/wiki.test.raw": TEXTS[2],
    "c4/c4-sample.0.json": json.dumps({"text": TEXTS[3]}),
    "commoncrawl/head.jsonl": json.dumps({"text": TEXTS[4]}),
    "commoncrawl/sample-0.warc.gz": gzip.compress(response("http://a/", page(TEXTS[0]))),
    "commoncrawl/sample-0.wet.gz": gzip.compress(warc_record("conversion", "http://a/", TEXTS[1].encode())),
    "web_html/html/a.html": page(TEXTS[2]),
    "cnn_dailymail/allennlp_stories/a.story": TEXTS[3],
    "cnn_dailymail/test.csv": "article,highlights\nA whale was seen.,Whale seen\n",
    "multi30k_en_de/train.en": TEXTS[4],
    "multi30k_en_de/test_2016_flickr.en": "Two men look at a whale.\n",
    "dedup_fixtures/documents_a/a.txt": TEXTS[0],
    "dedup_fixtures/a.txt": TEXTS[0],
    "xsum/xsum.csv": "id,article\n7,A ship has come home.\n",
    "nli/mnli_dev.csv": "premise,hypothesis\nA whale swims.,It is wet.\n",
    "nli/snli_dev.csv": "premise,hypothesis\nA man rows.,He is at sea.\n",
    "glue/QNLI/dev.tsv": "question\tsentence\nWho?\tAhab did.\n",
    "glue/RTE/dev.tsv": "sentence1\tsentence2\nIt sank.\tIt is gone.\n",
    "glue/SST-2/dev.tsv": "sentence\na whale of a film\n",
    "glue/WNLI/dev.tsv": "sentence1\tsentence2\nHe saw it.\tAhab saw it.\n",
    "glue/CoLA/dev.tsv": "a\t1\t\tThe whale swims.\n",
    "stsb_csv/stsb-en-test.csv": "A whale swims.,A whale is swimming.,4.8\n",
}


def write_made_up_data(folder: pathlib.Path) -> None:
    """Writes each file below the folder."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
