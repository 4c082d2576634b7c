"""Everything that a paper prints of a study, written into a folder in one call."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import _atomic
from sense7_qual._arguments import Progress, check_arguments, refuse_removed, reporting
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual._present import count
from sense7_qual.acts import preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.adjudication import SettledBy
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.report._escape import Page, Paper, Style
from sense7_qual.report._paper_basis import NAME as BASIS_NAME, basis_of
from sense7_qual.report._paper_parts import Part, Sources, parts_of
from sense7_qual.report._review_facts import Study, read_once
from sense7_qual.report._table import Layout, Table, made_with
from sense7_qual.report._text_record import REMOVED, Record, record_of

_FORMATS = ("docx", "tex", "csv", "md", "html")
_PICTURES = ("pdf", "png")


@dataclass(frozen=True, slots=True)
class PaperFolder:
    """What was written for a paper; its `repr` has counts only.

    Attributes
    ----------
    path
        The folder.
    files
        One row per file, in the order in which it was written: file (its name in the folder) and shows
        (what is in it).
    left_out
        One row per missing table, figure or file: its name, and why.
    codebook_line
        Which codebook it is of, and which version of the package made it.
    changed
        One row per part that an earlier paper in the folder had on another basis: part, before, now.
    """

    path: Path
    files: pd.DataFrame
    left_out: pd.DataFrame
    codebook_line: str
    changed: pd.DataFrame

    def __repr__(self) -> str:
        return f"PaperFolder({count(len(self.files))} files, {len(self.left_out)} left out)"

    @property
    def table(self) -> Table:
        """What was written and what was not, as a table."""
        shown = self.files.groupby("shows", sort=False)["file"].agg(", ".join)
        rows = [(names, str(shows)) for shows, names in shown.items()]
        rows += [("–", f"{what}: {why}") for what, why in self.left_out.itertuples(index=False)]
        rows += [
            (part, f"rests on other decisions than in the earlier paper: {now} – before: {before}")
            for part, before, now in self.changed.itertuples(index=False)
        ]
        return Table(
            title=f"What was written into {self.path.name}",
            headers=("File", "Shows"),
            rows=tuple(rows),
            notes=(self.codebook_line,),
        )


def paper(
    store: Study,
    analysis_plan: AnalysisPlan | None,
    path: str | Path,
    *,
    formats: Sequence[str] = ("docx", "tex"),
    style: Style = "plain",
    page_columns: Literal[1, 2] = 1,
    paper_size: Paper = "a4",
    codebook_layout: Layout = "list",
    conditions: Sequence[str] = (),
    settled_by: SettledBy | None = None,
    round: str | None = None,
    with_texts: bool = False,
    names: Collection[str] = (),
    with_agreement: bool | None = None,
    with_prose: bool = True,
    positionality: str | None = None,
    multiverse: pd.DataFrame | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
    **removed: object,
) -> PaperFolder:
    """Write everything that a paper prints about a study into a folder, and list the files.

    Methods and results in sentences, checklists, tables, figures, and data.

    What a study does not have (discussion, rating, suggestions) is left out and listed in `left_out`. All
    files are finished before the first is put in place: an error leaves the folder as it was.

    Parameters
    ----------
    store : Store
        The study, as whoever has it open may see it.
    analysis_plan : AnalysisPlan or None
        What is analysed: the rating, the participant, agreement or none, resamples and seed. None takes the
        plan that was registered last (`Store.preregister`); where there is none, agreement and no links.
    path : str or Path
        The folder; made where it is missing.
    formats : sequence of str
        Of tables and texts: docx, tex, csv, md, html; the CSV of a text has a row for each number in it, with
        the call that gives it. Figures are PDF and PNG.
    style : {"plain", "acm", "apa"}
        Of the tables in Word and LaTeX.
    page_columns : {1, 2}
        Columns of text on the pages of the LaTeX document that reads the tables.
    paper_size : {"a4", "letter"}
        The page of Word documents.
    codebook_layout : {"list", "grid"}
        The codebook as a list, each code with its parts below it, or in rows and columns.
    conditions : sequence of str
        Columns of units by which the frequency of codes is compared, a table each; by default as the plan
        says.
    settled_by : {"rulings", "discussion", "majority", "nothing", "any"}, optional
        How disagreements count in counts, links and quotes, as for `Store.decisions`; by default as the plan
        says, or the registered one. Once two coders decided it has no other default.
    round : str, optional
        Only what was coded in this round; by default the rounds of the plan, or all.
    with_texts : bool
        Whether files may hold what participants wrote: quotes (those that are approved, or else drawn ones:
        `report.tables.quote`), memos, and the coded data with the texts. Words
        that a paraphrase replaces are in no file: coded data and memos on these texts are then left out.
    names : collection of str
        Names to look for in quotes, as in `redact.find`.
    with_agreement : bool, optional
        Whether agreement between coders is part of the argument; by default as the plan says. Without it (one
        coder, reflexive thematic analysis) no file has a coefficient of agreement.
    with_prose : bool
        Whether methods, results, the statement on AI and the checklists are written, too.
    positionality : str, optional
        The memo_id of a memo on the study; methods and checklists print its words as they are.
    multiverse : DataFrame, optional
        The result of `links.multiverse`, for a table of its own, methods, results and the review.
    overwrite : bool
        Whether to replace existing files. The paper then replaces an earlier one in the folder: other files
        of that one (quotes, where `with_texts` was true; a table that the study no longer has) are removed,
        and named in `left_out`. ``paper.json`` lists what a paper wrote; other files stay.
    progress : bool or callable, optional
        True shows a bar; a function is told (done, total).

    Raises
    ------
    ArgumentError
        `store` is no open study, nothing was coded, a format or column is another one, several coders decided
        and nothing says how disagreements count, or `positionality` is no memo on the study.
    TableError
        `multiverse` lacks a column, or is of decisions on several bases.
    StoreError
        A file is there, and `overwrite` is false; a file of an earlier paper that this one does not have was
        changed since (or that one was broken off while it wrote); or the folder cannot be written.

    Examples
    --------
    ``report.paper(store, None, "paper", settled_by="rulings").table``
    """
    check_arguments(paper, locals(), but=("store", "removed"))
    refuse_removed(removed, REMOVED, function="paper")
    store = read_once(store, function="paper")
    _check_formats(formats)
    plan = _plan(store, analysis_plan, with_agreement=with_agreement, conditions=conditions)
    _check_conditions(store, plan.conditions)
    record = _planned(store, plan, settled_by=settled_by, round=round, multiverse=multiverse)
    sources = Sources(record, plan, with_texts=with_texts, names=names, positionality=positionality)
    page = Page(style, page_columns, paper_size)
    wanted, left_out = parts_of(
        sources, plan.conditions, with_prose=with_prose, codebook_layout=codebook_layout
    )
    folder = Path(path)
    basis = basis_of(sources, wanted, folder)
    shows = "Which part rests on which decisions"
    wanted.append(Part(Path(BASIS_NAME).stem, "data", shows, lambda: basis.write, "md"))
    named = [(part, form) for part in wanted for form in _forms(part, formats)]
    _refuse_taken(folder, named, overwrite=overwrite)
    made = _made(wanted, progress)
    empty = [name for name, one in made.items() if isinstance(one, Table) and not one.rows]
    left_out += [(name, "it has no rows") for name in empty]
    named = [(part, form) for part, form in named if part.name not in empty]
    gone = _write(folder, named, made, page, overwrite=overwrite)
    files = pd.DataFrame(
        [(f"{part.name}.{form}", part.shows) for part, form in named], columns=["file", "shows"]
    ).astype("string")
    left_out = [
        *left_out,
        *((name, "of an earlier paper: removed, since this one has none") for name in gone),
    ]
    none = pd.DataFrame(left_out, columns=["what", "why"]).astype("string")
    return PaperFolder(folder, files, none, made_with(store.codebook), basis.changed)


def _made(wanted: Sequence[Part], progress: Progress | bool | None) -> dict[str, Any]:
    """Make every part, by its name."""
    with reporting(progress, len(wanted), doing="paper", unit="part") as tell:
        made = {}
        for done, part in enumerate(wanted, 1):
            made[part.name] = part.make()
            tell(done, len(wanted))
    return made


def _write(
    folder: Path, named: Sequence[tuple[Part, str]], made: Mapping[str, Any], page: Page, *, overwrite: bool
) -> list[str]:
    """Write the files of the paper, each whole, and return those of an earlier one that were removed."""
    earlier, written = listed(folder), {f"{part.name}.{form}" for part, form in named}
    removed = outdated(folder, earlier, written) if overwrite else []
    with _folder_to_write(folder) as finished:
        for part, form in named:
            part.write(made[part.name], finished / f"{part.name}.{form}", page=page, overwrite=False)
        for name in removed:
            (folder / name).unlink(missing_ok=True)
        note_begun(folder, earlier, written)
        for part, form in named:
            name = f"{part.name}.{form}"
            _atomic.move_in(finished / name, folder / name, overwrite=overwrite)
        note_written(folder, earlier, written)
    return removed


def _plan(
    store: Study, given: AnalysisPlan | None, *, with_agreement: bool | None, conditions: Sequence[str]
) -> AnalysisPlan:
    registered = preregistrations(store.acts())
    if given is None:
        given = registered[-1].plan if registered else AnalysisPlan(question="What do the codes show?")
    changed: dict[str, Any] = {} if with_agreement is None else {"with_agreement": with_agreement}
    if conditions:
        changed["conditions"] = tuple(dict.fromkeys(conditions))
    return replace(given, **changed)


def _planned(
    store: Study,
    plan: AnalysisPlan,
    *,
    settled_by: SettledBy | None,
    round: str | None,
    multiverse: pd.DataFrame | None,
) -> Record:
    """Return what the paper says of the study, analysed as planned."""
    return record_of(
        store,
        function="paper",
        plan=plan,
        settled_by=settled_by,
        with_agreement=plan.with_agreement,
        rating=plan.rating,
        cluster=plan.cluster,
        n_boot=plan.n_boot,
        seed=plan.seed,
        round=round,
        adjust=plan.adjust or "bh",
        equivalence=plan.equivalence,
        hypothesis=plan.hypothesis or "within",
        multiverse=multiverse,
    )


def _check_formats(formats: Sequence[str]) -> None:
    unknown = [name for name in formats if name not in _FORMATS]
    if unknown or not formats:
        raise ArgumentError(
            f"paper: expected formats out of {', '.join(_FORMATS)} – found "
            f"{first_three(unknown) or 'none'} – "
            f"{did_you_mean(unknown[0], _FORMATS) if unknown else 'name one.'}"
        )


def _check_conditions(store: Study, conditions: Sequence[str]) -> None:
    known = [name for name in store.units.columns if name not in ("text", "context")]
    for name in conditions:
        if name not in known:
            raise ArgumentError(
                f"paper: expected a column of the study's units – found {word(name)} – "
                f"{did_you_mean(name, known)}"
            )


def _forms(part: Part, formats: Sequence[str]) -> Sequence[str]:
    named = tuple(dict.fromkeys(formats))
    return {"table": named, "text": named, "figure": _PICTURES, "data": (part.suffix,)}[part.kind]


def _refuse_taken(folder: Path, named: Sequence[tuple[Part, str]], *, overwrite: bool) -> None:
    """Refuse before anything is computed, so that a paper is never half old and half new."""
    taken = [f"{part.name}.{form}" for part, form in named if (folder / f"{part.name}.{form}").exists()]
    if taken and not overwrite:
        raise StoreError(
            f"paper: the folder already has {first_three(taken)}. Nothing was written. Name another folder, "
            "or pass overwrite=True."
        )


@contextmanager
def _folder_to_write(folder: Path) -> Iterator[Path]:
    """Make the folder, and in it one for files that are not in their place yet; system errors are ours."""
    is_new = not folder.exists()
    try:
        _atomic.make_folder(folder)
        try:
            with tempfile.TemporaryDirectory(dir=folder, prefix=".", suffix=".part") as finished:
                yield Path(finished)
        except BaseException:
            if is_new:
                with suppress(OSError):  # it holds files; and it must not hide the first error
                    folder.rmdir()
            raise
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"paper: cannot write to the folder {str(folder)!r}: {error.strerror or type(error).__name__}. "
            "Free some space, or name another folder, and write the paper again."
        ) from None


#: Which files a paper wrote, each with its SHA-256.
_LIST: Final = "paper.json"

#: In place of the SHA-256: the paper was broken off before it had written all its files.
_UNFINISHED: Final = ""


def outdated(folder: Path, earlier: Mapping[str, str], written: Collection[str]) -> list[str]:
    """Return the files of an earlier paper that the present one, with the files `written`, does not have.

    They may hold words that must not be there any more, or numbers of another state. Raises `StoreError`
    where one of them was changed since, or where the earlier paper was broken off.
    """
    others = {
        name: digest for name, digest in earlier.items() if name not in written and (folder / name).is_file()
    }
    changed = [name for name, digest in others.items() if _digest(folder / name) != digest]
    if changed:
        raise StoreError(
            "paper: this paper would remove files of an earlier one that were changed since, or that an "
            f"interrupted run wrote: {first_three(changed)}. Nothing was written. Move or delete them, or "
            "name another folder."
        )
    return list(others)


def note_begun(folder: Path, earlier: Mapping[str, str], written: Iterable[str]) -> None:
    """Note which files a paper is about to write, so that they are known where it is broken off."""
    _note(folder, earlier, dict.fromkeys(written, _UNFINISHED))


def note_written(folder: Path, earlier: Mapping[str, str], written: Iterable[str]) -> None:
    """Note which files a paper wrote; those of an earlier one that are still there stay noted."""
    _note(folder, earlier, {name: _digest(folder / name) for name in written})


def _note(folder: Path, earlier: Mapping[str, str], own: Mapping[str, str]) -> None:
    stay = {name: digest for name, digest in earlier.items() if (folder / name).is_file()}
    content = json.dumps({"files": dict(sorted({**stay, **own}.items()))}, indent=2) + "\n"
    _atomic.write(folder / _LIST, content.encode(), overwrite=True)


def listed(folder: Path) -> dict[str, str]:
    """Return the files that earlier papers wrote there, each with its SHA-256; none where there were none.

    Raises `StoreError` where their list cannot be read.
    """
    try:
        content = (folder / _LIST).read_bytes()
    except OSError:  # there is none; a folder that cannot be read cannot be written either, which is told
        return {}
    try:
        files = json.loads(content)["files"]
    except (ValueError, TypeError, KeyError, RecursionError):
        files = None
    if not isinstance(files, dict) or not all(
        isinstance(digest, str) and Path(name).name == name for name, digest in files.items()
    ):
        raise StoreError(
            f"paper: {_LIST!r} in this folder does not list the files of an earlier paper. Nothing was "
            "written. Name another folder, or move that file away."
        )
    return files


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
