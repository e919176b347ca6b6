"""A SavedModel in TensorFlow's C library, which loads it by the code that TF Serving loads it by.

`isolated_check` reads this file in a process without firth, and without TensorFlow's Python packages, whose
import takes longer than most requests.
"""

import ctypes
import functools
import os
import pathlib
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from typing import Any

import numpy as np

# By their numbers in `tensorflow.DataType`, which are those of the C library.
DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
# By their numbers in `TF_Code`, under the names that TensorFlow's Python package has for them.
_ERRORS = {
    3: "InvalidArgumentError",
    5: "NotFoundError",
    8: "ResourceExhaustedError",
    9: "FailedPreconditionError",
    12: "UnimplementedError",
}
_INVALID_ARGUMENT, _NOT_FOUND = 3, 5
_STRING, _BFLOAT16 = 7, 14
# Size of the C library's string, `TF_TString`.
_STRING_BYTES = 24
_PREDICT = "tensorflow/serving/predict"


class SessionError(Exception):
    """TensorFlow has refused a model or a request.

    Attributes:
        is_refusal: True for an argument that is not valid, which a model refuses by itself.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{_ERRORS.get(code, f'error {code}')}: {message}")
        self.is_refusal = code == _INVALID_ARGUMENT


class _Buffer(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("free", ctypes.c_void_p))

    @property
    def value(self) -> bytes:
        return ctypes.string_at(self.data, self.length)


class _Place(ctypes.Structure):
    """`TF_Output`: an output of an operation."""

    _fields_ = (("operation", ctypes.c_void_p), ("index", ctypes.c_int))


# Results of the functions that return more than nothing, and what each argument is.
_POINTER, _TEXT, _INT, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t
_BUFFER = ctypes.POINTER(_Buffer)
_LONG, _ARRAY = ctypes.c_int64, ctypes.c_void_p
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "TF_Version": (_TEXT, ()),
    "TF_NewStatus": (_POINTER, ()),
    "TF_GetCode": (_INT, (_POINTER,)),
    "TF_Message": (_TEXT, (_POINTER,)),
    "TF_GetAllOpList": (_BUFFER, ()),
    "TF_LoadLibrary": (_POINTER, (_TEXT, _POINTER)),
    "TF_NewBuffer": (_BUFFER, ()),
    "TF_NewGraph": (_POINTER, ()),
    "TF_NewSessionOptions": (_POINTER, ()),
    "TF_SetConfig": (None, (_POINTER, _TEXT, _SIZE, _POINTER)),
    "TF_LoadSessionFromSavedModel": (
        _POINTER,
        (_POINTER, _BUFFER, _TEXT, ctypes.POINTER(_TEXT), _INT, _POINTER, _BUFFER, _POINTER),
    ),
    "TF_GraphOperationByName": (_POINTER, (_POINTER, _TEXT)),
    "TF_SessionRun": (
        None,
        (_POINTER, _BUFFER, _ARRAY, _ARRAY, _INT, _ARRAY, _ARRAY, _INT, _ARRAY, _INT, _BUFFER, _POINTER),
    ),
    "TF_AllocateTensor": (_POINTER, (_INT, ctypes.POINTER(_LONG), _INT, _SIZE)),
    "TF_DeleteTensor": (None, (_POINTER,)),
    "TF_TensorData": (_POINTER, (_POINTER,)),
    "TF_TensorType": (_INT, (_POINTER,)),
    "TF_NumDims": (_INT, (_POINTER,)),
    "TF_Dim": (_LONG, (_POINTER, _INT)),
    "TF_TensorByteSize": (_SIZE, (_POINTER,)),
    "TF_StringInit": (None, (_POINTER,)),
    "TF_StringCopy": (None, (_POINTER, _TEXT, _SIZE)),
    "TF_StringDealloc": (None, (_POINTER,)),
    "TF_StringGetSize": (_SIZE, (_POINTER,)),
    "TF_StringGetDataPointer": (_POINTER, (_POINTER,)),
}


def package_folder(name: str) -> pathlib.Path:
    """Returns the folder of an installed package, which is not imported."""
    spec = PathFinder.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} is not installed")
    return pathlib.Path(spec.origin).parent


def skip_package_imports() -> None:
    """Lets `tensorflow.core` be imported, the messages of models, without the rest of TensorFlow."""
    if "tensorflow" not in sys.modules:
        outline = types.ModuleType("tensorflow")
        outline.__path__ = [str(package_folder("tensorflow"))]
        sys.modules["tensorflow"] = outline


def _mode(folder: pathlib.Path) -> int:
    """Returns the mode in which TensorFlow's own import loads its library: its releases differ.

    The ops of tensorflow-text each have a copy of protobuf. In TensorFlow 2.21 they find the attributes of a
    node only where the library's symbols replace that copy's, and abort elsewhere: the hash of a name is
    seeded by an address.
    """
    exports_symbols = os.path.exists(folder / "python" / "pywrap_dlopen_global_flags.py")
    return ctypes.RTLD_GLOBAL if exports_symbols else ctypes.RTLD_LOCAL


@functools.cache
def library() -> Any:
    """Returns TensorFlow's C library."""
    folder = package_folder("tensorflow")
    found = sorted(folder.glob("libtensorflow_cc*"))
    if not found:
        raise FileNotFoundError(
            f"{folder} has no libtensorflow_cc; models are checked by that of TensorFlow's own wheels"
        )
    try:
        made = ctypes.CDLL(str(found[0]), mode=_mode(folder))
    except OSError as error:
        raise ImportError(
            f"TensorFlow's C library, by which models are checked, cannot be loaded: {error}"
        ) from error
    for name, (result, arguments) in _FUNCTIONS.items():
        if (function := getattr(made, name, None)) is None:
            raise ImportError(
                f"TensorFlow {folder} has no C function {name}; models are checked by libtensorflow_cc of "
                "TensorFlow's own wheels"
            )
        function.restype, function.argtypes = result, arguments
    return made


@functools.cache
def _status() -> int:
    return int(library().TF_NewStatus())


def _check() -> None:
    if code := library().TF_GetCode(_status()):
        raise SessionError(code, library().TF_Message(_status()).decode("utf-8", "replace"))


def version() -> str:
    """Returns TensorFlow's version."""
    return str(library().TF_Version().decode())


def registered_ops() -> set[str]:
    """Returns the names of the ops that TensorFlow has, and the libraries that it has loaded."""
    from tensorflow.core.framework import op_def_pb2

    return {op.name for op in op_def_pb2.OpList.FromString(library().TF_GetAllOpList().contents.value).op}


def load_text_ops() -> None:
    """Loads the ops of tensorflow-text, without its Python modules."""
    for path in sorted((package_folder("tensorflow_text") / "python").rglob("_*.so")):
        library().TF_LoadLibrary(os.fsencode(path), _status())
        _check()


def _require_variables(directory: str) -> None:
    """Raises an error if a model has lost its variables: the library takes it for one that has none."""
    from tensorflow.core.protobuf import saved_model_pb2

    index = os.path.join(directory, "variables", "variables.index")
    if os.path.exists(index):
        return
    with open(os.path.join(directory, "saved_model.pb"), "rb") as file:
        read = saved_model_pb2.SavedModel.FromString(file.read())
    if any(node.op == "VarHandleOp" for meta in read.meta_graphs for node in meta.graph_def.node):
        raise SessionError(_NOT_FOUND, f"{index} is missing, and the model has variables")


class Session:
    """A model in a session of the C library.

    Args:
        directory: Folder of the SavedModel.

    Attributes:
        signatures: Signatures by name, without those of the loader, such as that of the initializer.

    Raises:
        SessionError: if TensorFlow cannot load it.
    """

    def __init__(self, directory: str) -> None:
        from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, rewriter_config_pb2

        config = config_pb2.ConfigProto()
        # Its optimizer goes over each of the graphs that are asked for, here once instead of twice.
        rewriting = config.graph_options.rewrite_options
        rewriting.meta_optimizer_iterations = rewriter_config_pb2.RewriterConfig.ONE
        written = config.SerializeToString()
        _require_variables(directory)
        options, meta_graph = library().TF_NewSessionOptions(), library().TF_NewBuffer()
        library().TF_SetConfig(options, written, len(written), _status())
        _check()
        self._graph = library().TF_NewGraph()
        tags = (_TEXT * 1)(b"serve")
        self._session = library().TF_LoadSessionFromSavedModel(
            options, None, os.fsencode(directory), tags, 1, self._graph, meta_graph, _status()
        )
        _check()
        found = meta_graph_pb2.MetaGraphDef.FromString(meta_graph.contents.value).signature_def
        self.signatures = {
            name: signature for name, signature in found.items() if signature.method_name == _PREDICT
        }

    def run(self, name: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the outputs of a signature as arrays."""
        # `firth.serving.slots.loaded` has the same sentence, and the same shape for a batch of nothing: this
        # file can import nothing of firth.
        if name not in self.signatures:
            raise LookupError(f"the model has no signature {name}")
        signature = self.signatures[name]
        given = [(signature.inputs[key], each) for key, each in inputs.items()]
        asked = list(signature.outputs.values())
        tensors: list[int] = []
        found = (_POINTER * len(asked))()
        try:
            for info, each in given:
                tensors.append(_tensor(each, info))
            values = (_POINTER * len(given))(*tensors)
            library().TF_SessionRun(
                self._session,
                None,
                self._places([info.name for info, _ in given]),
                values,
                len(given),
                self._places([info.name for info in asked]),
                found,
                len(asked),
                None,
                0,
                None,
                _status(),
            )
            _check()
            return {key: _array(tensor) for key, tensor in zip(signature.outputs, found, strict=True)}
        finally:
            for tensor in filter(None, found):
                library().TF_DeleteTensor(tensor)
            for tensor in tensors:
                _free(tensor)

    def _places(self, names: Sequence[str]) -> Any:
        """Returns the outputs of operations, by names such as `StatefulPartitionedCall:0`."""
        places = (_Place * len(names))()
        for place, name in zip(places, names, strict=True):
            operation, _, index = name.partition(":")
            place.operation = library().TF_GraphOperationByName(self._graph, operation.encode())
            if not place.operation:
                raise LookupError(f"the graph has no operation {operation}")
            place.index = int(index or 0)
        return places


def _tensor(values: Any, info: Any) -> int:
    """Returns values as a tensor of an input's dtype and rank, which a batch of nothing does not show."""
    is_text = info.dtype == _STRING
    made = np.array(values, object if is_text else _dtype(info.dtype))
    if not made.size:
        made = made.reshape(made.shape[:1] + (0,) * (len(info.tensor_shape.dim) - 1))
    made = np.ascontiguousarray(made)
    # Texts are checked first: from the allocation on nothing may fail, as the caller frees what is returned.
    if is_text and (others := [each for each in made.flat if not isinstance(each, bytes)]):
        raise TypeError(f"an input of texts has {others[0]!r}, which is not bytes")
    size = made.size * _STRING_BYTES if is_text else made.nbytes
    shape = (_LONG * max(made.ndim, 1))(*made.shape)
    tensor = int(library().TF_AllocateTensor(info.dtype, shape, made.ndim, size))
    if not is_text:
        ctypes.memmove(library().TF_TensorData(tensor), made.ctypes.data, made.nbytes)
        return tensor
    for place, text in zip(_strings(tensor, made.size), made.flat, strict=True):
        library().TF_StringInit(place)
        library().TF_StringCopy(place, text, len(text))
    return tensor


def _free(tensor: int) -> None:
    if library().TF_TensorType(tensor) == _STRING:
        # The library frees the texts of tensors that it has made, and not of those that it was given.
        for place in _strings(tensor, library().TF_TensorByteSize(tensor) // _STRING_BYTES):
            library().TF_StringDealloc(place)
    library().TF_DeleteTensor(tensor)


def _strings(tensor: int, count: int) -> Iterator[int]:
    """Yields the places of a tensor's texts in memory."""
    start = library().TF_TensorData(tensor) or 0
    yield from range(start, start + count * _STRING_BYTES, _STRING_BYTES)


def _array(tensor: int) -> np.ndarray[Any, Any]:
    shape = [library().TF_Dim(tensor, axis) for axis in range(library().TF_NumDims(tensor))]
    dtype, size = library().TF_TensorType(tensor), int(np.prod(shape, dtype=np.int64))
    if dtype == _STRING:
        texts = np.empty(size, object)
        for row, place in enumerate(_strings(tensor, size)):
            start, length = library().TF_StringGetDataPointer(place), library().TF_StringGetSize(place)
            texts[row] = ctypes.string_at(start, length)
        return texts.reshape(shape)
    if not size:
        return np.empty(shape, _dtype(dtype))
    held = ctypes.string_at(library().TF_TensorData(tensor), library().TF_TensorByteSize(tensor))
    values = np.frombuffer(held, _dtype(dtype)).reshape(shape)
    # It has the upper half of the bits of a float32.
    return (values.astype(np.uint32) << 16).view(np.float32) if dtype == _BFLOAT16 else values


def _dtype(number: int) -> Any:
    """Returns NumPy's dtype that holds the values of a tensor."""
    if number not in DTYPES:
        raise TypeError(f"a tensor has the type {number} of TensorFlow's, which no signature has")
    return np.dtype("uint16" if number == _BFLOAT16 else DTYPES[number])
