"""Writing a bundle: what it may hold, the tables that its own script makes of that, and their check."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import Progress, reporting
from sense7_qual._atomic import make_folder, move_in, new_file, new_folder, write_new
from sense7_qual._formats import BROKEN_ZIP
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.store import _bundle
from sense7_qual.store._backend import Log
from sense7_qual.store._bundle import describe, withhold
from sense7_qual.store._operations import archive, contents
from sense7_qual.store._stored import layout, study_notes, whole_files
from sense7_qual.store._stored.units_parquet import parquet

_FORMATS: Final = ("docx", "tex", "csv", "md", "html")
_SCRIPT: Final = "rerun.py"
_PACKAGE: Final = Path(__file__).parents[3]  # where sense7_qual lies


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The bundle that was asked for, as the parameters of `Store.copies.bundle`."""

    plan: AnalysisPlan
    texts: withhold.Texts
    title: str | None
    conditions: tuple[str, ...]
    variables: tuple[str, ...]
    names: tuple[str, ...]
    formats: tuple[str, ...]
    overwrite: bool
    paraphrased: tuple[withhold.Place, ...] = ()
    accept: tuple[str, ...] = ()
    cited: describe.Citation

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of words that stay: those that are analysed, and those that were named."""
        analysed = [name for name in (self.plan.rating, self.plan.cluster) if name is not None]
        return tuple(dict.fromkeys([*analysed, *self.conditions, *self.variables]))


def check(wish: Wish, columns: Sequence[str]) -> None:
    """Raise `ArgumentError` where a column or format is another one, before anything is written."""
    known = [name for name in columns if name not in ("text", "context")]
    for name in wish.columns:
        if name not in known:
            raise ArgumentError(
                f"bundle: expected a column of the study's units – found {word(name)} – "
                f"{did_you_mean(str(name), known)}"
            )
    withhold.check_accepted(wish.accept, known)
    unknown = [name for name in wish.formats if name not in _FORMATS]
    if unknown or not wish.formats:
        raise ArgumentError(
            f"bundle: expected formats out of {', '.join(_FORMATS)} – found {first_three(unknown) or 'none'} "
            "– name one."
        )


def write(log: Log, target: Path, wish: Wish, *, progress: Progress | bool | None) -> None:
    """Write the bundle of a study to `target`; errors as of `store.copies.bundle`."""
    _refuse_taken(target, overwrite=wish.overwrite)
    with log.as_folder(log.place.scratch) as study:
        _write(log, study, target, wish, progress)


def _write(log: Log, study: Path, target: Path, wish: Wish, progress: Progress | bool | None) -> None:
    made = archive.copy_of(study, target, "bundle")
    lines = archive.sound_lines(study, "the study")
    with whole_files.making(target, "bundle", log.place.scratch) as building:
        folder = building.with_suffix("") if target.suffix == ".zip" else building
        new_folder(folder)
        told = _write_study(study, folder, wish, lines)
        with reporting(progress, 100, doing="bundle", unit="%") as tell:
            _run(folder, "--write", tell=lambda share: tell(int(50 * share), 100))
            _describe(folder, told)
            _run(folder, tell=lambda share: tell(50 + int(50 * share), 100))
        if target.suffix == ".zip":
            _zip(folder, building)
        archive.note_copy(log, made)
        _move_in(building, target)


def _refuse_taken(target: Path, *, overwrite: bool) -> None:
    """Refuse what is there, unless it is an earlier bundle that may be replaced."""
    if not overwrite:
        whole_files.refuse_existing(target)
    elif target.exists() and not (_is_packed(target) or _bundle.is_bundle(target)):
        raise StoreError(
            f"bundle: expected an earlier bundle at {target.name!r} to overwrite – found something else – "
            "choose another place."
        )


def _is_packed(path: Path) -> bool:
    """Return True if this is a bundle in a file."""
    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as members:
            return any(name.endswith(f"/{_bundle.STUDY}") for name in members.namelist())
    except BROKEN_ZIP:
        return False


def _move_in(built: Path, target: Path) -> None:
    if not target.is_dir():
        move_in(built, target, overwrite=target.is_file())
        return
    old = built.with_name(f"{built.name}.old")  # a folder that is there cannot be replaced in one step
    target.rename(old)
    try:
        move_in(built, target)
    except BaseException:
        old.rename(target)
        raise


def _write_study(study: Path, folder: Path, wish: Wish, lines: Sequence[dict[str, Any]]) -> describe.Told:
    """Write data/, codebooks/ and record/, the script and the notebook."""
    said = layout.read(study)
    units, books = layout.read_units(study, said), layout.read_codebooks(study, said)
    shown = _published(wish, units, books, lines)
    files = {_bundle.UNITS: parquet(shown.units), **_codebook_files(shown.codebooks)}
    files[_bundle.ACTS] = b"".join(map(archive.line_of, shown.lines))
    files["record/analysis.json"] = _analysis(replace(wish, plan=shown.plan))
    more = {_SCRIPT: Path(__file__).with_name(_SCRIPT).read_bytes(), "rerun.ipynb": describe.notebook()}
    if shown.redacted is not None:
        more["data/redacted.csv"] = shown.redacted.to_csv(index=False, lineterminator="\n").encode()
    coders = tuple(sorted({str(line["coder"]) for line in lines}))
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    sealed = whole_files.seal(
        {
            **asdict(said),
            "format": _bundle.FORMAT,
            "texts": wish.texts,
            "coders": coders,
            "files": hashes,
            "withdrawn_units": sorted(study_notes.withdrawn_units(study)),
        }
    )
    for name, content in {**files, **more, _bundle.STUDY: sealed}.items():
        make_folder((folder / name).parent)
        write_new(folder / name, content, sync=False)
    return _told(wish, shown, shown.codebooks[said.codebook], lines, said.units_sha256)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Published:
    """What of a study may go out: its units, codebooks, acts and analysis plan, without what is withheld."""

    units: pd.DataFrame
    left_out: tuple[str, ...]
    redacted: pd.DataFrame | None
    codebooks: dict[str, Codebook]
    lines: list[dict[str, Any]]
    plan: AnalysisPlan


def _published(
    wish: Wish, units: pd.DataFrame, books: Mapping[str, Codebook], lines: Sequence[dict[str, Any]]
) -> _Published:
    """Return what may go out, or raise `ArgumentError` where a name or id may not and is not accepted."""
    shown, left_out, redacted = withhold.published_units(
        units, wish.texts, names=wish.names, variables=wish.columns, paraphrased=wish.paraphrased
    )
    withhold.refuse_personal(units, _kept_words(shown, wish), wish.names, wish.accept)
    given = {"title": (wish.title or "",), "keywords": wish.cited.keywords}
    words = withhold.written(lines, books.values(), units, wish.plan, given)
    repeats = (
        withhold.never
        if wish.texts == "all"
        else withhold.repeating(
            {text for _, _, text in words}, units, left_out, names=wish.names, paraphrased=wish.paraphrased
        )
    )
    if wish.texts == "withheld":
        words = withhold.written(lines, books.values(), shown, wish.plan, given)
        repeats = withhold.or_rarely(repeats, words, units, left_out, accept=wish.accept)
    public = _Published(
        units=shown,
        left_out=tuple(contents.WITHHELD if repeats(name) else name for name in left_out),
        redacted=redacted,
        codebooks=withhold.published_codebooks(books, repeats, wish.texts),
        lines=[*withhold.published_acts(lines, repeats, wish.texts)],
        plan=AnalysisPlan.from_text(contents.published_plan(wish.plan.to_text(), contents.Cover(repeats))),
    )
    goes_out = withhold.written(public.lines, public.codebooks.values(), shown, public.plan, given)
    withhold.refuse_repeated(goes_out, repeats, wish.accept)
    return public


def _kept_words(shown: pd.DataFrame, wish: Wish) -> list[str]:
    """Return the columns to look over for who somebody is: ids, and words that stay beside redacted texts."""
    named = () if wish.texts == "all" else wish.columns
    return list(dict.fromkeys(name for name in (*withhold.IDS, *named) if name in shown))


def _codebook_files(books: dict[str, Codebook]) -> dict[str, bytes]:
    return {f"codebooks/{fingerprint}.yaml": book.to_yaml() for fingerprint, book in sorted(books.items())}


def _analysis(wish: Wish) -> bytes:
    chosen = {
        "plan": wish.plan.to_text(),
        "conditions": wish.conditions,
        "formats": wish.formats,
        "texts": wish.texts,
    }
    return (json.dumps(chosen, indent=2, ensure_ascii=False) + "\n").encode()


def _told(
    wish: Wish, shown: _Published, book: Codebook, lines: Sequence[dict[str, Any]], units_sha256: str
) -> describe.Told:
    return describe.Told(
        title=wish.title or f"Coded data: {book.title or book.name}",
        texts=wish.texts,
        n_units=len(shown.units),
        n_acts=len(lines),
        coders=tuple(sorted({str(line["coder"]) for line in lines})),
        codebook=book.fingerprint,
        units_sha256=units_sha256,
        left_out=shown.left_out,
        variables=tuple(str(name) for name in shown.units.columns if name != "text"),
        cited=wish.cited,
        day=max(str(line["at"]) for line in lines)[:10],  # the record's own time: the clock would differ
    )


def _describe(folder: Path, told: describe.Told) -> None:
    for name, content in (
        ("README.md", describe.readme(told)),
        ("LICENSE.md", describe.licence(told.cited.licence)),
        ("requirements.txt", describe.requirements()),
        *_cited(told),
    ):
        write_new(folder / name, content, sync=False)
    write_new(folder / "ro-crate-metadata.json", describe.crate(folder, told), sync=False)
    write_new(folder / describe.CHECKSUMS, describe.checksums(folder), sync=False)


def _cited(told: describe.Told) -> Iterator[tuple[str, bytes]]:
    """Yield the files that say how the bundle is cited; none without authors."""
    if told.cited.authors:
        named = {"title": told.title, "day": told.day}
        yield "CITATION.cff", describe.cff(told.cited, **named)
        yield ".zenodo.json", describe.zenodo(told.cited, description=describe.summary(told), **named)


def _run(folder: Path, *arguments: str, tell: Callable[[float], object]) -> None:
    """Run the bundle's script in a process of its own, as a stranger will."""
    paths = [str(_PACKAGE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    with _process([sys.executable, _SCRIPT, "--progress", *arguments], folder, environment) as process:
        last = ""
        for line in process.stdout or ():
            done, _, total = line.strip().partition("/")
            if done.isdecimal() and total.isdecimal():
                tell(int(done) / int(total))
            else:
                last = line.strip() if "NOT THE SAME" not in line and line.strip() else last
    if process.returncode:
        why = last or f"exit status {process.returncode}"
        raise StoreError(
            f"bundle: expected {_SCRIPT} to compute the tables and figures of the bundle, and the same ones "
            f"twice – found: {why} – no bundle was made."
        )


@contextmanager
def _process(
    words: Sequence[str], folder: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(  # noqa: S603 – this Python, and the script beside this file
        words,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        umask=0o077,
    ) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def _zip(folder: Path, target: Path) -> None:
    """Pack the folder under its own name, with fixed dates: the same files give the same bytes."""
    with zipfile.ZipFile(new_file(target), "w", zipfile.ZIP_DEFLATED) as members:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, 0o600 << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            members.writestr(member, path.read_bytes())
    whole_files.settle(target)
