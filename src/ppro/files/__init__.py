"""Files that are whole or not there, and texts that every reader takes.

``names`` finds free names and knows what is a name at all; ``whole`` writes files and folders that
are whole or not there, ``staging`` keeps them while they are written; ``locks`` keep two processes
apart; ``regular`` opens files and nothing else; ``text`` makes JSON and tables.
"""

from ppro.files.locks import held
from ppro.files.names import (
    HIDDEN,
    MARKER,
    as_name,
    free_name,
    is_name,
    is_taken,
    numbered,
)
from ppro.files.regular import check_regular, open_regular, read_text
from ppro.files.staging import STAGED, flush, remove, remove_stale, staged
from ppro.files.text import SMALL, dump_json, markdown_table, readable_json
from ppro.files.whole import (
    make_folders,
    remove_empty,
    umask,
    whole_file,
    whole_folder,
    write_text,
)

__all__ = [
    "HIDDEN",
    "MARKER",
    "SMALL",
    "STAGED",
    "as_name",
    "check_regular",
    "dump_json",
    "flush",
    "free_name",
    "held",
    "is_name",
    "is_taken",
    "make_folders",
    "markdown_table",
    "numbered",
    "open_regular",
    "read_text",
    "readable_json",
    "remove",
    "remove_empty",
    "remove_stale",
    "staged",
    "umask",
    "whole_file",
    "whole_folder",
    "write_text",
]
