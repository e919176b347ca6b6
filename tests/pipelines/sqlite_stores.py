"""Stores of metadata for the tests of what interrupted runs leave."""

from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2


def open_store(path):
    config = metadata_store_pb2.ConnectionConfig()
    config.sqlite.filename_uri = str(path)
    config.sqlite.connection_mode = metadata_store_pb2.SqliteMetadataSourceConfig.READWRITE_OPENCREATE
    return MetadataStore(config)
