"""`sense7-qual report`: the tables, figures and data of a paper, as files."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sense7_qual._commands.settled_by import add_settled_by, registered, settled_by
from sense7_qual._commands.words import STUDY, Parsers, count, new_place, opened

if TYPE_CHECKING:
    from sense7_qual.acts.contents import AnalysisPlan
    from sense7_qual.store import Store

_REPORT: Final = """\
Write the parts of a paper about a study: methods, results and checklists in sentences; tables and
figures of the codebook, its history, the themes, agreement code by code, disagreements, codes that
occur together and, with a rating, codes linked to it; and the objections that a reviewer may raise.
A preregistered analysis plan (store.preregister) is followed. How disagreements count has no default
once two coders decided: it is asked, unless the plan or --settled-by says it. Intervals are clustered by
participant if the study names them (--cluster). No file is overwritten without --overwrite, and no
participant's text is included without --with-texts. The command lists what it left out, and why."""
_FORMATS: Final = ("docx", "tex", "csv", "md", "html")
_STYLES: Final = ("plain", "acm", "apa")


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    report = commands.add_parser("report", help="write tables, figures and data", description=_REPORT)
    report.add_argument("study", metavar="STUDY", help=STUDY)
    report.add_argument("--out", metavar="FOLDER", required=True, help="the folder for the files")
    _add_layout(report)
    report.add_argument(
        "--rating",
        metavar="COLUMN",
        help="the rating that codes are linked to (default: as registered, or as given to sense7-qual new)",
    )
    report.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="the column of participants (default: case_id, if every text has one)",
    )
    report.add_argument(
        "--condition",
        metavar="COLUMN",
        action="append",
        default=[],
        help="also compare how often codes were applied by this column; can be repeated",
    )
    add_settled_by(report)
    report.add_argument("--round", metavar="NAME", help="use only this round")
    report.add_argument("--seed", type=int, help="the seed of intervals (default: as registered, or 0)")
    report.add_argument("--without-agreement", action="store_true", help="compute no agreement")
    report.add_argument(
        "--positionality", metavar="MEMO_ID", help="a memo on the study to quote in the methods"
    )
    report.add_argument("--with-texts", action="store_true", help="include quotes, memos and texts")
    report.add_argument(
        "--overwrite",
        action="store_true",
        help="replace an earlier report; its other files are removed",
    )
    report.set_defaults(run=_report)


def _add_layout(report: argparse.ArgumentParser) -> None:
    """Add the options of how tables are laid out."""
    report.add_argument(
        "--format",
        metavar="docx,csv",
        default="docx",
        help=f"the formats of tables: {', '.join(_FORMATS)} (default: docx); figures are pdf and png",
    )
    report.add_argument(
        "--style", choices=_STYLES, default="plain", help="the style of tables (default: plain)"
    )
    report.add_argument(
        "--columns",
        type=int,
        choices=(1, 2),
        default=1,
        help="columns per page of the LaTeX document (default: 1)",
    )
    report.add_argument(
        "--paper-size",
        choices=("a4", "letter"),
        default="a4",
        help="the paper size of Word documents (default: a4)",
    )
    report.add_argument(
        "--codebook",
        choices=("list", "grid"),
        default="list",
        help="the layout of the codebook: a list with the parts of each code below it (default), or a grid",
    )


def _report(parsed: argparse.Namespace) -> int:
    from sense7_qual import report

    folder, store = new_place(parsed.out, command="report"), opened(parsed.study)
    plan = _plan(store, parsed)
    written = report.paper(
        store,
        plan,
        folder,
        settled_by=settled_by(store, plan, parsed.settled_by, command="report"),
        formats=[name.strip().lower().lstrip(".") for name in parsed.format.split(",")],
        style=parsed.style,
        page_columns=parsed.columns,
        paper_size=parsed.paper_size,
        codebook_layout=parsed.codebook,
        conditions=parsed.condition,
        round=parsed.round,
        with_texts=parsed.with_texts,
        positionality=parsed.positionality,
        overwrite=parsed.overwrite,
    )
    names = dict.fromkeys(name.rpartition(".")[0] for name in written.files["file"])
    print(f"{count(len(written.files), 'file')} in {folder}: {', '.join(names)}.")
    for what, why in written.left_out.itertuples(index=False):
        print(f"Left out: {what} – {why}.")
    for part, before, now in written.changed.itertuples(index=False):
        print(f"Rests on other decisions than before: {part} – {now} (before: {before}).")
    return 0


def _plan(store: Store, parsed: argparse.Namespace) -> AnalysisPlan:
    """Return the last registered plan with the options applied, or a plan of the options alone."""
    plan = registered(store)
    if not store.preregistrations:
        plan = replace(plan, rating=store.options.rating_column or None)
    asked: dict[str, Any] = {name: getattr(parsed, name) for name in ("rating", "cluster", "seed")}
    asked["with_agreement"] = False if parsed.without_agreement else None
    return replace(plan, **{name: value for name, value in asked.items() if value is not None})
