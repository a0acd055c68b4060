"""Raw files from their upstream repositories, at pinned commits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ppro.data.records import RawFile
from ppro.data.storage import Unavailable

# A blocked host must not hold the user up: pooch tries each of its addresses for this long.
CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0


def download(files: Sequence[RawFile], cache: Path) -> None:
    """Fetch ``files`` into ``cache``; the first failure ends the attempt.

    pooch writes to a temporary file and moves it into place once its hash is right.

    Raises:
        Unavailable: a file has no address, its host cannot be reached or its hash is wrong.
    """
    import pooch

    downloader = pooch.HTTPDownloader(timeout=(CONNECT_SECONDS, READ_SECONDS))
    for file in files:
        if file.url is None:
            raise Unavailable(f"{file.path} has no upstream address")
        target = cache / file.path
        try:
            pooch.retrieve(
                file.url, f"sha256:{file.sha256}", target.name, target.parent, downloader=downloader
            )
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
