"""The command line: `sense7-qual lab` opens the notebooks and the example in JupyterLab.

Also `python -m sense7_qual lab`. Nothing here needs git, make or a certain system.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sense7_qual._atomic import save
from sense7_qual.errors import ArgumentError, QualError, StoreError

__all__ = ["main", "put_example"]

_FOLDER: Final = "sense7-qual"
_FIRST: Final = "notebooks/01_coding.ipynb"
_LAB: Final = f"""\
Put the notebooks, the codebook and a synthetic example into FOLDER (default:
{_FOLDER}, where you are) and open JupyterLab there, on the coding notebook.
A file that is there already is never changed.

What follows FOLDER and begins with "-" goes to JupyterLab: --no-browser,
--port 8899, --allow-root …"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit status: 0, or 1 after an error that it has printed.

    Parameters
    ----------
    arguments
        The words after the program's name; None for those that it was started with.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    # The first option behind the command and all that follows are JupyterLab's (but a call for help).
    end = next((at for at, word in enumerate(words) if at and word.startswith("-")), len(words))
    for_lab = words[end:]
    parsed = _parser().parse_args(words[:end] + [word for word in for_lab if word in ("-h", "--help")])
    try:
        return _lab(Path(parsed.folder), for_lab)
    except QualError as error:
        print(f"sense7-qual: {error}", file=sys.stderr)
        return 1


def put_example(folder: Path) -> tuple[list[str], list[str]]:
    """Put the notebooks, the codebooks and the example data into `folder`, each where nothing is yet.

    Returns
    -------
    tuple of lists of str
        The files that were written; and those that were there and differ from the ones that this version
        ships, which were left as they are. Paths below `folder`.

    Raises
    ------
    StoreError
        The folder is a file, or cannot be written; what was written so far stays.
    """
    written, differing = [], []
    for name, file in _shipped():
        target, content = folder / name, file.read_bytes()
        try:
            if target.is_symlink() or target.exists():
                if not target.is_file() or target.read_bytes() != content:
                    differing.append(name)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            save(target, content, overwrite=False)
        except OSError as error:
            raise StoreError(
                f"lab: expected a folder that can be written at {str(folder)!r} – found {name}: "
                f"{error.strerror or type(error).__name__} – name another folder."
            ) from None
        written.append(name)
    return written, differing


def _lab(folder: Path, for_lab: list[str]) -> int:
    if importlib.util.find_spec("jupyterlab") is None:
        raise ArgumentError(
            "lab: expected the package jupyterlab – found it not installed – pip install jupyterlab, in the "
            "environment of sense7_qual."
        )
    written, differing = put_example(folder)
    print(f"{len(written)} files put into {folder.resolve()}.")
    if differing:
        print(f"Left as they are, though they differ from this version's: {', '.join(differing)}.")
    from jupyterlab.labapp import LabApp

    place = [f"--ServerApp.root_dir={folder.resolve()}", f"--LabApp.default_url=/lab/tree/{_FIRST}"]
    LabApp.launch_instance(argv=[*place, *for_lab])  # later words win: the user's
    return 0


def _shipped() -> Iterator[tuple[str, Path]]:
    """Yield the files of the example, by their path below the user's folder."""
    package = Path(__file__).parent
    # A wheel carries them inside the package; a checkout has them beside it.
    home = package / "_example" if (package / "_example").is_dir() else package.parent
    books = next(place for place in (package / "codebooks", package.parent / "codebooks") if place.is_dir())
    for folder in (home / "notebooks", home / "data", books):
        for file in sorted(folder.iterdir()):
            if file.is_file() and not file.name.startswith("."):
                yield f"{folder.name}/{file.name}", file


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sense7-qual", description="Qualitative coding with honest statistics, in JupyterLab."
    )
    version = sys.modules["sense7_qual"].__version__
    parser.add_argument("--version", action="version", version=f"sense7_qual {version}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    lab = commands.add_parser(
        "lab",
        help="put the notebooks and an example into a folder, and open JupyterLab there",
        usage="sense7-qual lab [FOLDER] [--no-browser] [--port PORT] [any other option of JupyterLab]",
        description=_LAB,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lab.add_argument("folder", metavar="FOLDER", nargs="?", default=_FOLDER)
    return parser


if __name__ == "__main__":
    sys.exit(main())
