"""The formats that models come in from and go out to."""

import dataclasses
import importlib
import os
from collections.abc import Mapping
from typing import Any

from firth.interop.errors import InteropError, check_folder
from firth.storage.published_models import SIGNS, has_signs


@dataclasses.dataclass(frozen=True)
class Read:
    """Report of an import: the weights and tensors without a counterpart, and what a user should know.

    Attributes:
        fresh: Paths of our weights that the checkpoint lacks; they are as the recipe's seed made them.
        surplus: Names of tensors that the model has no place for. They are not in the bundle, so that they do
            not go out again.
        stored: By path of our weights, the dtypes of the tensors that they were made of, as safetensors calls
            them. The bundle keeps them for the way out.
        notes: Sentences about what else does not come in, or is otherwise here.
        length: Most tokens of a text that are read; None where nothing was written.
        length_reason: File and key that say it, or why it is so.
        reason: Why weights are fresh whose tensors the files have; empty if the files lack them.
    """

    fresh: tuple[str, ...]
    surplus: tuple[str, ...]
    stored: Mapping[str, list[str]] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reason: str = ""
    length: int | None = None
    length_reason: str = ""

    @property
    def has_fresh_heads(self) -> bool:
        """True if a head is fresh, so that what it answers is random."""
        return any(path.startswith("heads/") for path in self.fresh)

    def sentences(self, most: int) -> list[str]:
        """Returns sentences for the user: about the weights, and the notes.

        Args:
            most: Most names of weights in a sentence.

        Example:

        >>> Read(("heads/masked_lm_head/bias",), ()).sentences(most=5)
        ['fresh, and random until trained, since the files lack it: heads/masked_lm_head/bias']
        """
        from firth.recipes.base.errors import first_of

        said = []
        if self.fresh:
            names = first_of(self.fresh, most)
            reason = self.reason or f"the files lack {_it(self.fresh)}"
            said.append(f"fresh, and random until trained, since {reason}: {names}")
        if self.surplus:
            names = first_of(self.surplus, most)
            said.append(f"left out, since the model has no place for {_it(self.surplus)}: {names}")
        if self.length is not None:
            said.append(
                f"reads up to {self.length} tokens of a text, special ones included: {self.length_reason}"
            )
        return [*said, *self.notes]


def _it(names: tuple[str, ...]) -> str:
    return "it" if len(names) == 1 else "them"


@dataclasses.dataclass(frozen=True)
class Written:
    """Report of an export to another library's format.

    Attributes:
        files: Paths of the files, below the folder.
        notes: Sentences about what the files do not hold, or hold otherwise than the bundle.
    """

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of another library.

    Its package has `import_model` or `export_model` or both, and is loaded when it is used.

    Attributes:
        name: Name on the command line.
        title: Name for people.
        package: Package of this library that reads and writes it.
        contents: Description of a folder of this format.
        example: A folder and options of its import, as they are typed; empty if no models come in from it.
        download: Command that gets a folder of it, with `{model}` and `{folder}` for their names.
        use: Code that loads a written folder, named `{folder}` in it; empty if no models go out to it.
        signs: Patterns of files that tell a folder of it, each with a key that the file's JSON has, or with
            none.
        options: Choices when a model goes out, by the names of arguments.
        choices: Choices when a model comes in, by the names of arguments.
        file_ending: Ending of a file that may be given instead of its folder, with it or without.
    """

    name: str
    title: str
    package: str
    contents: str = ""
    example: str = ""
    download: str = ""
    use: str = ""
    signs: tuple[tuple[str, str], ...] = ()
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    choices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    file_ending: str = ""

    @property
    def reads(self) -> bool:
        """True if models come in from it."""
        return bool(self.example)

    @property
    def writes(self) -> bool:
        """True if models go out to it."""
        return bool(self.use)

    def is_in(self, folder: str | os.PathLike[str]) -> bool:
        """Returns true if a folder looks like one of this format."""
        return has_signs(os.fspath(folder), self.signs)

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Returns true if a path is that of a folder of this format, or of a file in it that may be given."""
        return self.is_in(path) or self._is_of_file(os.fspath(path))

    def check_folder(self, path: str | os.PathLike[str]) -> None:
        """Passes if there is a folder. Nothing is loaded for it.

        Args:
            path: Path of the folder.

        Raises:
            firth.interop.errors.InteropError: if there is none, with how people get one.
        """
        folder = os.fspath(path)
        if self._is_of_file(folder):
            return
        name = os.path.basename(os.path.abspath(folder))
        model = folder if folder.count("/") == 1 and folder[0] not in "./~" else f"OWNER/{name}"
        check_folder(folder, self.download.format(model=model, folder=folder, name=name))

    def import_model(
        self, path: str | os.PathLike[str], folder: str | os.PathLike[str], name: str, **choices: str
    ) -> Read:
        """Writes the model in a folder of this format as a bundle.

        Args:
            path: Path of the folder.
            folder: Place of the bundle, where nothing is.
            name: Name of the model.
            **choices: Choices of the format, by the names in `choices`.

        Returns:
            Which weights the folder lacks, and which the model has no place for.

        Raises:
            firth.interop.errors.InteropError: for what cannot be read, or cannot be expressed here, and for
                an unknown choice, with the nearest.
            FileExistsError: if there is something in the bundle's place.
        """
        self._check_names(choices, self.choices)
        self.check_folder(path)
        return self._module().import_model(path, folder, name, **choices)

    def export_model(
        self, bundle: str | os.PathLike[str], folder: str | os.PathLike[str], **options: str
    ) -> Written:
        """Writes a bundle's model in this format.

        Args:
            bundle: Path of the folder that `firth.models.save_model` wrote.
            folder: Place of the new folder, where nothing is.
            **options: Choices of the format, by the names in `options`.

        Returns:
            The files that were written, and what they lack.

        Raises:
            firth.interop.errors.InteropError: for an unknown option, with the nearest, and for a model
                that the format cannot express.
            FileExistsError: if there is something in the folder's place.
        """
        self._check_names(options, self.options)
        return self._module().export_model(bundle, folder, **options)

    def _is_of_file(self, path: str) -> bool:
        ending = self.file_ending
        return bool(ending) and _is_file(path.removesuffix(ending) + ending)

    def _check_names(self, given: Mapping[str, str], known: Mapping[str, str]) -> None:
        from firth.recipes.base.errors import suggest

        for name in given:
            if name not in known:
                nearest = suggest(name, known) if known else "it has none"
                raise InteropError(f"{self.title} has no option {name!r}; {nearest}")

    def _module(self) -> Any:
        return importlib.import_module(self.package)


def _is_file(path: str) -> bool:
    from firth import storage

    return storage.exists(path)


_HEADS = {"heads": "untrained writes heads that nobody has trained, which are left out otherwise"}
_TASK = {
    "labels": "names of the classes of a fine-tuned head, joined by commas, in the order of its outputs; "
    "without it, those of the files, or LABEL_0 and so on",
    "texts": "1 or 2: number of texts that a fine-tuned classifier reads together; without it, 1",
}
_BEGIN = {"begin": "cls or none: the token that texts of a decoder begin with; without it, as published"}
_HUGGING_FACE = Format(
    "hf",
    "Hugging Face",
    "firth.interop.hugging_face",
    contents="config.json, model.safetensors (or its shards), and tokenizer.json or the older files",
    example="all-MiniLM-L6-v2 --name minilm",
    download="`hf download {model} --local-dir {folder}` does that (of the package huggingface_hub), or "
    "`git clone` with git-lfs",
    use="transformers.AutoModel.from_pretrained('{folder}')",
    signs=SIGNS["hf"],
    options={
        "dtype": "float32, bfloat16 or float16; without it, that of each imported tensor",
        **_HEADS,
    },
    choices={**_BEGIN, **_TASK},
)

_ELMO = Format(
    "elmo",
    "ELMo",
    "firth.interop.elmo",
    contents="*options*.json and *weights*.hdf5, as AllenNLP publishes them",
    example="elmo_original --name elmo",
    signs=SIGNS["elmo"],
    download="download the options and the weights that AllenNLP publishes into the folder {folder}",
)

_KERAS_HUB = Format(
    "keras",
    "KerasHub",
    "firth.interop.keras_hub",
    contents="config.json, model.weights.h5 (or its shards), tokenizer.json and assets/tokenizer",
    example="bert_tiny_en_uncased --name bert",
    download="`Backbone.from_preset('{name}').save_to_preset('{folder}')` of keras_hub.models does that",
    use="keras_hub.models.Backbone.from_preset('{folder}')",
    signs=SIGNS["keras"],
    options={
        "tokenizer": "near writes one that reads some texts otherwise, which is left out otherwise",
        **_HEADS,
    },
    choices=_BEGIN,
)

_ONNX = Format(
    "onnx",
    "ONNX",
    "firth.interop.onnx",
    use="onnxruntime.InferenceSession('{folder}/encoder.onnx'); firth.json says what goes in and comes out",
    options=_HEADS,
)

_CTRANSLATE2 = Format(
    "ctranslate2",
    "CTranslate2",
    "firth.interop.ctranslate2",
    use="ctranslate2.Encoder('{folder}'), Generator or Translator, whose tokens are the tokenizer's pieces",
    options={"quantization": "type that weights are rounded to, such as int8 or float16", **_HEADS},
)

_TENSORFLOW = Format(
    "tensorflow",
    "TensorFlow",
    "firth.interop.tensorflow",
    contents="a checkpoint (*.index and its .data files), its configuration (*_config.json, hparams.json or "
    "operative_config.gin) and its tokenizer, as the authors of BERT, ALBERT, ELECTRA, XLNet, GPT-2 and T5 "
    "published them, or Model Garden its BERT, ALBERT and T5",
    example="uncased_L-12_H-768_A-12 --name bert",
    download="download and unpack the checkpoint that its authors publish into the folder {folder}",
    use="tf.train.load_checkpoint('{folder}'), or --init_checkpoint of the code of its paper",
    signs=SIGNS["tensorflow"],
    options={
        "family": "bert, electra and so on, where a fine-tuned model may be of two and its base is gone",
        **_HEADS,
    },
    choices={
        "config": "File of the configuration, where it is in another folder or called otherwise.",
        "part": "discriminator or generator, where an ELECTRA's checkpoint holds both.",
        **_BEGIN,
        **_TASK,
    },
    file_ending=".index",
)

_MODEL_GARDEN = Format(
    "model_garden",
    "Model Garden",
    "firth.interop.tensorflow.model_garden_exporting",
    use="tf.train.Checkpoint(encoder=encoder).read('{folder}/ckpt-0').assert_existing_objects_matched(), "
    "whose encoder is build_encoder's of {folder}/params.yaml",
)

_PEFT = Format(
    "peft",
    "peft",
    "firth.interop.peft",
    use="peft.PeftModel.from_pretrained(base, '{folder}'), with the base of `--format hf` for its task_type",
)

FORMATS = {
    each.name: each
    for each in (_HUGGING_FACE, _KERAS_HUB, _ELMO, _TENSORFLOW, _MODEL_GARDEN, _ONNX, _CTRANSLATE2, _PEFT)
}
"""The formats by their names on the command line, `firth import NAME` and `firth export --format NAME`."""


def format_of(path: str | os.PathLike[str]) -> Format | None:
    """Returns the format of the folder at a path; None if models come in from no such folder."""
    return next((each for each in FORMATS.values() if each.reads and each.is_at(path)), None)
