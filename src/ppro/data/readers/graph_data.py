"""The npz files of EdisonLeeeee/GraphData, whose sparse matrices are pickled."""

import io
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ppro.data.readers.csr import sparse_graph
from ppro.data.readers.npz import npz_arrays
from ppro.data.readers.pickles import unpickled_csr
from ppro.data.readers.raw import MAX_FILE_BYTES, RawGraph, broken


def read_graph_data(path: Path) -> RawGraph:
    """Read ``adj_matrix``, ``node_attr`` and ``node_label``; no pickle is run."""
    (labels,) = npz_arrays(path, ("node_label",))
    return sparse_graph(path, _matrix(path, "adj_matrix"), _matrix(path, "node_attr"), labels)


def _matrix(path: Path, name: str) -> sp.csr_matrix:
    """Return one matrix: a plain array, or the pickle of a SciPy matrix as NumPy stores it."""
    stream = io.BytesIO(_member(path, f"{name}.npy"))
    try:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise broken(path, f"{name} has the unknown version {version}")
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    except ValueError as error:
        raise broken(path, f"{name} is not an array ({error})") from error
    if not dtype.hasobject:
        return sp.csr_matrix(npz_arrays(path, (name,))[0])
    if shape != ():
        raise broken(path, f"{name} holds {shape} objects instead of one matrix")
    return unpickled_csr(path, stream.read())


def _member(path: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(name).file_size > MAX_FILE_BYTES:
                raise broken(path, f"{name} is larger than {MAX_FILE_BYTES // 2**20} MiB")
            with archive.open(name) as member:
                return member.read(MAX_FILE_BYTES)
    except KeyError as error:
        raise broken(path, f"{name} is missing") from error
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise broken(path, f"not a readable npz file ({error})") from error
