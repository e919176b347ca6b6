from .files import (
    digest_of as digest_of,
    exists as exists,
    files_below as files_below,
    glob as glob,
    is_folder as is_folder,
    list_folder as list_folder,
    open_file as open_file,
    read_json as read_json,
    read_json_lines as read_json_lines,
    read_json_object as read_json_object,
    read_text as read_text,
    remove as remove,
    seconds_of as seconds_of,
    size_of as size_of,
    stamp_of as stamp_of,
    why_no_file as why_no_file,
)
from .folders import (
    ADAPTER_FOLDER as ADAPTER_FOLDER,
    BEGUN as BEGUN,
    BUNDLE_FOLDER as BUNDLE_FOLDER,
    MARKER as MARKER,
    NotWholeError as NotWholeError,
    check_whole as check_whole,
    copy_folder as copy_folder,
    is_unchanged as is_unchanged,
    is_whole as is_whole,
    move as move,
    whole_folder as whole_folder,
    write_marker as write_marker,
)
from .paths import is_local as is_local
from .temporary import (
    keep_temporary_files as keep_temporary_files,
    keeping_temporary_files as keeping_temporary_files,
    lasting_temporary_folder as lasting_temporary_folder,
    local_copy as local_copy,
    local_folder as local_folder,
    remove_temporary_files as remove_temporary_files,
    scratch_folder as scratch_folder,
)
from .writing import (
    GrowingText as GrowingText,
    copy_file as copy_file,
    whole_file as whole_file,
    write_json as write_json,
    write_text as write_text,
)
