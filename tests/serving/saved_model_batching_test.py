"""The file of batching parameters is one that TF Serving reads."""

import os

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format, wrappers_pb2

from firth.serving.saved_model import PARAMETERS, batching_text
from tests.exported_model import exported_model

# `BatchingParameters` of TF Serving's session_bundle_config.proto, which its Python package does not have.
FIELDS = ("max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads")


def message_type():
    """The published message, without the fields that are not written."""
    file = descriptor_pb2.FileDescriptorProto(name="batching.proto", package="tensorflow.serving")
    file.dependency.append(wrappers_pb2.DESCRIPTOR.name)
    message = file.message_type.add(name="BatchingParameters")
    for number, name in enumerate(FIELDS, 1):
        field = message.field.add(name=name, number=number, label=1, type=11)
        field.type_name = ".google.protobuf.Int64Value"
    message.field.add(name="pad_variable_length_inputs", number=7, label=1, type=8)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    found = pool.FindMessageTypeByName("tensorflow.serving.BatchingParameters")
    # Another name in each of the two stacks.
    newer = getattr(message_factory, "GetMessageClass", None)
    return newer(found) if newer else message_factory.MessageFactory(pool).GetPrototype(found)


def test_tf_serving_reads_what_is_written():
    path = os.path.join(exported_model().directory, "assets.extra", "batching_parameters.txt")
    with open(path, encoding="utf-8") as file:
        found = text_format.Parse(file.read(), message_type()())
    assert {field.name: value.value for field, value in found.ListFields()} == PARAMETERS
    assert min(PARAMETERS.values()) >= 1
    assert text_format.Parse(batching_text(pads=True), message_type()()).pad_variable_length_inputs
