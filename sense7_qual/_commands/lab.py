"""`sense7-qual lab`: the notebooks and the example in JupyterLab; how kernels of commands talk."""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sense7_qual._atomic import make_folder, save
from sense7_qual._commands.words import Parsers
from sense7_qual.errors import ArgumentError, StoreError

_FOLDER: Final = "sense7-qual"
_FIRST: Final = "notebooks/01_coding.ipynb"
_LAB: Final = f"""\
Copy the notebooks, the codebook and a synthetic example into FOLDER (default:
./{_FOLDER}) and open the coding notebook there in JupyterLab. Existing files are
never changed.

Options after FOLDER are passed to JupyterLab: --no-browser, --port 8899,
--allow-root …"""


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    lab = commands.add_parser(
        "lab",
        help="copy the notebooks and an example into a folder, and open JupyterLab there",
        usage="sense7-qual lab [FOLDER] [--no-browser] [--port PORT] [any other option of JupyterLab]",
        description=_LAB,
    )
    lab.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        default=_FOLDER,
        help=f"the folder to copy them into (default: {_FOLDER})",
    )
    lab.set_defaults(run=_lab)


def divide(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the words into the command's own and those for JupyterLab.

    JupyterLab's are the first option behind the command and all that follows, but a call for help.

    >>> divide(["lab", "mine", "--port", "8899"])
    (['lab', 'mine'], ['--port', '8899'])
    """
    end = next((at for at, word in enumerate(words) if at and word.startswith("-")), len(words))
    for_lab = list(words[end:])
    return [*words[:end], *(word for word in for_lab if word in ("-h", "--help"))], for_lab


def put_example(folder: Path) -> tuple[list[str], list[str]]:
    """Put the notebooks, the codebooks and the example data into `folder`, each where nothing is yet.

    Returns the files that were written, and those that differ from what this version ships and were left.
    """
    written, differing = [], []
    for name, file in _shipped():
        target, content = folder / name, file.read_bytes()
        try:
            if target.is_symlink() or target.exists():
                if not target.is_file() or target.read_bytes() != content:
                    differing.append(name)
                continue
            make_folder(target.parent)
            save(target, content, overwrite=False)
        except OSError as error:
            raise StoreError(
                f"lab: {name} could not be written to the folder {str(folder)!r} "
                f"({error.strerror or type(error).__name__}) – name another folder."
            ) from None
        written.append(name)
    return written, differing


def _lab(parsed: argparse.Namespace) -> int:
    folder = Path(parsed.folder)
    if importlib.util.find_spec("jupyterlab") is None:
        raise ArgumentError(
            "lab: the package jupyterlab is not installed – run pip install jupyterlab in the environment of "
            "sense7_qual."
        )
    written, differing = put_example(folder)
    print(f"{len(written)} files copied into {folder.resolve()}.")
    if differing:
        print(f"Left unchanged, although they differ from this version: {', '.join(differing)}.")
    from jupyter_core.paths import jupyter_runtime_dir
    from jupyterlab.labapp import LabApp

    os.environ["JUPYTER_RUNTIME_DIR"] = str(short_enough(Path(jupyter_runtime_dir())))
    place = [
        f"--ServerApp.root_dir={folder.resolve()}",
        f"--LabApp.default_url=/lab/tree/{_FIRST}",
        f"--KernelManager.transport={transport()}",
    ]
    LabApp.launch_instance(argv=[*place, *parsed.for_lab])  # later words win: the user's
    return 0


def _shipped() -> Iterator[tuple[str, Path]]:
    """Yield the files of the example, by their path below the user's folder."""
    package = Path(__file__).parents[1]
    # A wheel carries them inside the package; a checkout has them beside it.
    home = package / "_example" if (package / "_example").is_dir() else package.parent
    books = next(place for place in (package / "codebooks", package.parent / "codebooks") if place.is_dir())
    for folder in (home / "notebooks", home / "data", books):
        for file in sorted(folder.iterdir()):
            if file.is_file() and not file.name.startswith("."):
                yield f"{folder.name}/{file.name}", file


_LONGEST: Final = 50
"""Letters of the path of a kernel's sockets, at most: with the kernel's id a system takes 103."""
_SHARED: Final = """\
Other users of this computer can read along: on this system a kernel cannot use sockets in a
private folder, so it sends what it shows over the computer's own network. Do not code confidential
texts here while others use the computer."""


def transport() -> str:
    """Return the transport of kernels: "ipc", or "tcp" (with a printed warning) where there is no other.

    A kernel publishes the texts that a widget shows. Over TCP any user of the computer can subscribe to them;
    sockets in a folder of one's own are opened by nobody else.
    """
    if os.name == "posix":
        return "ipc"
    print(_SHARED, flush=True)
    return "tcp"


def short_enough(folder: Path, *, name: str = "") -> Path:
    """Return `folder`, or one in /tmp where a socket in its folder `name` would have too long a path."""
    if os.name != "posix" or len(str(folder / name)) <= _LONGEST:
        return folder
    return Path("/tmp") if name else Path(tempfile.mkdtemp(prefix="s7-", dir="/tmp"))  # noqa: S108
