"""Packaging of firth: one code base, two dependency stacks chosen by the Python version."""

import pathlib

import setuptools

HERE = pathlib.Path(__file__).parent
VERSION = (HERE / "firth" / "VERSION").read_text(encoding="utf-8").strip()

FIRST = 'python_version < "3.11"'
SECOND = 'python_version >= "3.11"'


def by_stack(name: str, first: str, second: str) -> list[str]:
    """Requires `name` in one range on Python 3.10 and in another on Python 3.11 and newer."""
    return [f"{name}{first}; {FIRST}", f"{name}{second}; {SECOND}"]


INSTALL_REQUIRES = [
    *by_stack("tfx", ">=1.16,<1.17", ">=1.21,<1.22"),
    *by_stack("tensorflow", ">=2.16,<2.17", ">=2.21,<2.22"),
    *by_stack("tensorflow-text", ">=2.16,<2.17", ">=2.21,<2.22"),
    *by_stack("keras", ">=3.12,<3.13", ">=3.15,<3.16"),
    *by_stack("keras-hub", ">=0.25,<0.26", ">=0.32,<0.33"),
    # tfx_bsl and tensorflow_transform import dill, which Beam no longer installs.
    "dill",
    "apache-beam>=2.60,<3",
    # HTTP's encoding br.
    "brotli>=1.2",
    # Encodings of text files that resiliparse does not tell.
    "charset-normalizer>=3.3",
    "filelock>=3.12",
    "flatbuffers>=23",
    "ftfy>=6.1",
    # CRC-32C of TFRecords.
    "google-crc32c>=1.5",
    "h5py>=3.10",
    # International names of hosts.
    "idna>=3.7",
    # gzip, several times as fast as zlib.
    "isal>=1.6",
    "jinja2>=3.1",
    # Names of packages that load on first use, by a stub that type checkers read too.
    "lazy_loader>=0.4",
    "lz4>=4.3",
    "matplotlib>=3.7",
    # bfloat16 in numpy.
    "ml-dtypes",
    "numpy",
    "phonenumbers>=8.13",
    "protobuf",
    "psutil>=5.9",
    # Language identification with its model inside. 0.4 has another interface.
    "py3langid>=0.2,<0.4",
    "pyarrow",
    "pydantic>=2.10,<3",
    # PyICU with ICU inside, which divides text into words in scripts without spaces.
    "pyicu-wheels>=2.15",
    # IBAN, payment cards and national numbers.
    "python-stdnum>=1.20",
    "pyyaml>=6",
    # HTML to text, and detection of encodings.
    "resiliparse>=2",
    "rich>=13",
    # TFMA brings rouge-score and sacrebleu too.
    "rouge-score>=0.1.2",
    "sacrebleu>=2.6.0",
    "safetensors>=0.4",
    "scikit-learn>=1.3",
    "scipy>=1.10",
    "sentencepiece>=0.2",
    "seqeval>=1.2.2",
    # tf.summary needs it; TensorFlow 2.21 no longer installs it.
    "tensorboard>=2.16",
    # TFX brings the versions that fit it.
    "absl-py",
    "ml-metadata",
    "tensorflow-data-validation",
    "docker",
    "keras-tuner>=1.4.8",
    "tensorflow-metadata",
    "tensorflow-model-analysis",
    "tensorflow-serving-api",
    "threadpoolctl>=3.1",
    # The Public Suffix List, which tells the registered domain of a host.
    "tld>=0.13",
    "trafilatura>=2",
    "typer>=0.12",
    "zstandard>=0.22",
]

# Buckets of S3, for Beam and for TensorFlow, whose tensorflow-io has no release for the second stack's.
S3 = ["boto3>=1.34", f"tensorflow-io==0.37.1; {FIRST}"]

# onnx 1.18 and newer need a protobuf that TFX 1.16 does not have.
ONNX = [*by_stack("onnx", "==1.17.0", ">=1.18"), "tf2onnx>=1.16", "onnxruntime>=1.20"]
KUBEFLOW = by_stack("kfp-pipeline-spec", ">=0.2,<0.3", ">=2.15,<3")
CTRANSLATE2 = ["ctranslate2>=4.6"]
# Classifiers by path: fastText's models, and scikit-learn's without pickle.
CLASSIFIERS = ["fasttext-predict>=0.9.2", "skops>=0.11"]
# spaCy 3.8 needs another numpy than TensorFlow 2.16. Neither is in the development lock.
SPACY = by_stack("spacy", ">=3.7,<3.8", ">=3.8")
# 0.4.30 was tried next to TensorFlow 2.16, whose ml-dtypes do for no version from 0.4.35 on.
JAX = by_stack("jax", "==0.4.30", ">=0.7")
# `firth serve`. starlette 1.7 is the last for Python 3.10; the health service follows protobuf.
SERVE = [
    "starlette>=1.0",
    "uvicorn>=0.30",
    "grpcio>=1.48",
    *by_stack("grpcio-health-checking", "==1.48.2", ">=1.80"),
    "prometheus-client>=0.20",
]

# Texts held to a schema: llguidance while they are written, outlines-core for schemas inside a model, which
# jsonschema checks; it needs rfc3339-validator for the format date-time.
STRUCTURED = ["llguidance>=1.6,<2", "outlines-core>=0.2.11,<0.3", "jsonschema>=4", "rfc3339-validator>=0.1.4"]

EXTRAS_REQUIRE = {
    "s3": S3,
    "onnx": ONNX,
    "ctranslate2": CTRANSLATE2,
    # The cleaning steps `fasttext` and `scikit_learn`.
    "classifiers": CLASSIFIERS,
    # `words: spacy` of the rules on quality.
    "spacy": SPACY,
    # The second trainer, `training.backend: jax`.
    "jax": JAX,
    "serve": SERVE,
    "structured": STRUCTURED,
    # `firth compile` writes Kubeflow's format. All of kfp needs another urllib3 than TFX.
    "kubeflow": KUBEFLOW,
    # tf-models-official pins TensorFlow, and has no release for the second stack's.
    "modelgarden": [f"tf-models-official==2.16.0; {FIRST}"],
    "test": [
        *ONNX,
        *CTRANSLATE2,
        *CLASSIFIERS,
        JAX[1],
        *(f"{each.split(';')[0]}; {FIRST}" for each in S3),
        # A server of S3 on this machine. All of `moto[server]` would bring thirty packages.
        *(f"{each}; {FIRST}" for each in ("moto[s3]>=5", "flask>=3", "flask-cors>=5")),
        "filelock>=3",
        "hypothesis>=6.100",
        "hypothesis-jsonschema>=0.23",
        *KUBEFLOW,
        *SERVE,
        *STRUCTURED,
        # A client of `firth serve` that is not ours.
        "openai>=1",
        "httpx>=0.27",
        "mypy>=1.11",
        # The command line of TFX asks it what is installed.
        "pip>=24",
        "pytest>=8",
        "pytest-xdist>=3",
        "ruff>=0.6",
        "tokenizers>=0.19",
        "types-pyyaml",
    ],
    "bench": ["tokenizers>=0.19"],
}

setuptools.setup(
    name="firth",
    version=VERSION,
    description="Pre-training, adapting and serving language models as TFX pipelines",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    packages=setuptools.find_packages(include=["firth", "firth.*"]),
    package_data={
        "firth": [
            "VERSION",
            "py.typed",
            "**/*.pyi",
            "corpus/documents/*.textproto",
            "corpus/filters/*.json",
            "corpus/privacy/*.tsv",
            "evaluation/*.yaml",
            "interop/hugging_face/*.yaml",
            "interop/peft/*.yaml",
            "recipes/presets/*.yaml",
            "recipes/*.json",
            "tokenizers/graph/*.json",
            "tokenizers/graph/*.textproto",
            "reports/templates/*",
            "serving/server/playground/static/*",
        ]
    },
    python_requires=">=3.10,<3.14",
    install_requires=INSTALL_REQUIRES,
    extras_require=EXTRAS_REQUIRE,
    entry_points={
        "console_scripts": ["firth=firth.cli.main:main", "firth-beam-worker=firth.corpus.workers.boot:main"]
    },
)
