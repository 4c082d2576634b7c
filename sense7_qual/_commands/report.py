"""`sense7-qual report`: the tables, figures and data of a paper, as files."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sense7_qual._commands.words import STUDY, Parsers, count, new_place, opened

if TYPE_CHECKING:
    from sense7_qual.acts.contents import AnalysisPlan
    from sense7_qual.store import Store

__all__ = ["add"]

_REPORT: Final = """\
Write what a paper prints of a study: methods, results and checklists in sentences; the codebook
and how codes and themes came about, the agreement of the coders code by code, disagreements, which
codes come together and, where there is a rating, which go with higher ones; and what a reviewer
will object to. What was registered beforehand
(store.preregister) is followed. Intervals respect participants where the study has them
(--cluster). Nothing is written over unless --overwrite is passed, and no participant's text is
in it unless --with-texts is. What is left out is said, and why."""
_FORMATS: Final = ("docx", "tex", "csv", "md", "html")
_STYLES: Final = ("plain", "acm", "apa")


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    report = commands.add_parser("report", help="write tables, figures and data", description=_REPORT)
    report.add_argument("study", metavar="STUDY", help=STUDY)
    report.add_argument("--out", metavar="FOLDER", required=True, help="where the files are put")
    _add_layout(report)
    report.add_argument(
        "--rating",
        metavar="COLUMN",
        help="the rating that codes are linked to (default: as registered, or as sense7-qual new was told)",
    )
    report.add_argument(
        "--cluster", metavar="COLUMN", help="the participant (default: case_id, where every text has one)"
    )
    report.add_argument(
        "--condition", metavar="COLUMN", action="append", default=[],
        help="how often each code was applied by this column; may be given several times",
    )  # fmt: skip
    report.add_argument(
        "--source",
        help="whose decisions are counted and linked: a coder, consensus, majority or pooled "
        "(default: consensus, where all disagreements are settled; else majority, and links pooled)",
    )
    report.add_argument("--round", metavar="NAME", help="only what was coded in this round")
    report.add_argument("--seed", type=int, help="of the intervals (default: as registered, or 0)")
    report.add_argument("--without-agreement", action="store_true", help="compute no agreement")
    report.add_argument(
        "--positionality", metavar="MEMO_ID", help="a memo on the study that is put into the methods as it is"
    )
    report.add_argument("--with-texts", action="store_true", help="quotes, memos and the texts, too")
    report.add_argument(
        "--overwrite",
        action="store_true",
        help="take the place of an earlier report: its other files are removed",
    )
    report.set_defaults(run=_report)


def _add_layout(report: argparse.ArgumentParser) -> None:
    """Add the options of how tables are laid out."""
    report.add_argument(
        "--format",
        metavar="docx,csv",
        default="docx",
        help=f"of the tables: {', '.join(_FORMATS)} (default: docx); figures are pdf and png",
    )
    report.add_argument("--style", choices=_STYLES, default="plain", help="of the tables (default: plain)")
    report.add_argument(
        "--columns", type=int, choices=(1, 2), default=1, help="of text on the pages of the LaTeX document"
    )
    report.add_argument(
        "--paper-size", choices=("a4", "letter"), default="a4", help="of Word documents (default: a4)"
    )
    report.add_argument(
        "--codebook", choices=("list", "grid"), default="list",
        help="as a list, each code with its parts below it (default), or in rows and columns",
    )  # fmt: skip


def _report(parsed: argparse.Namespace) -> int:
    from sense7_qual import report

    folder, store = new_place(parsed.out, command="report"), opened(parsed.study)
    written = report.paper(
        store,
        _plan(store, parsed),
        folder,
        formats=[name.strip().lower().lstrip(".") for name in parsed.format.split(",")],
        style=parsed.style,
        page_columns=parsed.columns,
        paper_size=parsed.paper_size,
        codebook_layout=parsed.codebook,
        conditions=parsed.condition,
        source=parsed.source,
        round=parsed.round,
        with_texts=parsed.with_texts,
        positionality=parsed.positionality,
        overwrite=parsed.overwrite,
    )
    names = dict.fromkeys(name.rpartition(".")[0] for name in written.files["file"])
    print(f"{count(len(written.files), 'file')} in {folder}: {', '.join(names)}.")
    for what, why in written.left_out.itertuples(index=False):
        print(f"Left out: {what} – {why}.")
    return 0


def _plan(store: Store, parsed: argparse.Namespace) -> AnalysisPlan:
    """Return the plan that was registered last, changed by what was asked for; or one of that alone."""
    from sense7_qual.acts.contents import AnalysisPlan

    registered = store.preregistrations
    new = AnalysisPlan(question="What do the codes show?", rating=store.options.rating_column or None)
    plan = registered[-1].plan if registered else new
    asked: dict[str, Any] = {name: getattr(parsed, name) for name in ("rating", "cluster", "seed")}
    asked["with_agreement"] = False if parsed.without_agreement else None
    return replace(plan, **{name: value for name, value in asked.items() if value is not None})
