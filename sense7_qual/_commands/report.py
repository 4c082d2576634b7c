"""`sense7-qual report`: the tables and figures from which a paper starts, as files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from sense7_qual._commands.words import STUDY, Parsers, count, new_place, opened
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.errors import ArgumentError, StoreError

if TYPE_CHECKING:
    from sense7_qual.codebook import Codebook
    from sense7_qual.figures import Figure
    from sense7_qual.report import Table

__all__ = ["add"]

_REPORT: Final = """\
Write the tables and figures from which a paper starts: the codebook, the agreement of the
coders code by code and, with --rating, which codes go with higher ratings. Intervals
respect participants where the study has them (--cluster). Nothing is written over unless
--overwrite is passed, and no participant's text is in it. The notebooks of
"sense7-qual lab" show what else there is."""
_FORMATS: Final = ("docx", "tex", "csv", "md", "html")
_PICTURES: Final = ("pdf", "png")
_PARTICIPANT: Final = "case_id"


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    report = commands.add_parser("report", help="write tables and figures", description=_REPORT)
    report.add_argument("study", metavar="STUDY", help=STUDY)
    report.add_argument("--out", metavar="FOLDER", required=True, help="where the files are put")
    report.add_argument(
        "--format",
        metavar="docx,csv",
        default="docx",
        help=f"of the tables: {', '.join(_FORMATS)} (default: docx); figures are {' and '.join(_PICTURES)}",
    )
    report.add_argument("--rating", metavar="COLUMN", help="the rating that codes are linked to")
    report.add_argument(
        "--cluster", metavar="COLUMN", help="the participant (default: case_id, where every text has one)"
    )
    report.add_argument(
        "--source",
        help="whose codings are linked: a coder, majority, consensus or pooled (default: pooled over coders)",
    )
    report.add_argument("--round", metavar="NAME", help="only what was coded in this round")
    report.add_argument("--seed", type=int, default=0, help="of the intervals (default: 0)")
    report.add_argument("--overwrite", action="store_true", help="write over the files of an earlier report")
    report.set_defaults(run=_report)


def _report(parsed: argparse.Namespace) -> int:
    folder, formats = new_place(parsed.out, command="report"), _formats(parsed.format)
    store = opened(parsed.study)
    units, codebook = store.units, store.codebook
    cluster = _cluster(units, parsed)
    if parsed.rating is not None:
        _require_column(units, parsed.rating)
    names = ["codebook", "reliability", *(["links"] if parsed.rating else [])]
    _refuse_taken(folder, names, formats, overwrite=parsed.overwrite)
    decisions = store.decisions(round=parsed.round, consensus=True)
    if decisions.empty:
        raise ArgumentError(
            "report: expected texts that a coder has finished – found none – report when some are."
        )
    independent = store.decisions(round=parsed.round, before_suggestions=True)
    if independent.empty:
        raise ArgumentError(
            "report: expected texts that a coder decided on before a model's suggestions were shown – found "
            "none – have some coded without: what agreement there is on the others is the model's too."
        )
    tables, figures = _agreement(independent, units, codebook, cluster, parsed.seed)
    if parsed.rating:
        of_links = _links(decisions, units, codebook, str(cluster), parsed)
        tables, figures = tables | of_links[0], figures | of_links[1]
    _write(folder, tables, formats, overwrite=parsed.overwrite)
    _write(folder, figures, _PICTURES, overwrite=parsed.overwrite)
    n_files = len(tables) * len(formats) + len(figures) * len(_PICTURES)
    what = f"tables of {', '.join(tables)}; figures of {', '.join(figures)}"
    print(f"{count(n_files, 'file')} in {folder}: {what}.")
    return 0


def _formats(named: str) -> list[str]:
    formats = list(dict.fromkeys(name.strip().lower().lstrip(".") for name in named.split(",")))
    unknown = [name for name in formats if name not in _FORMATS]
    if unknown:
        raise ArgumentError(
            f"report: expected formats out of {', '.join(_FORMATS)} – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], _FORMATS)}"
        )
    return formats


def _cluster(units: pd.DataFrame, parsed: argparse.Namespace) -> str | None:
    """Return the column of the participants; None where the study has none and none is needed."""
    if parsed.cluster is not None:
        _require_column(units, parsed.cluster)
        return str(parsed.cluster)
    if units[_PARTICIPANT].notna().all():
        return _PARTICIPANT
    if parsed.rating is not None:
        raise ArgumentError(
            "report: expected a participant for every text, to link codes to ratings – found none for some – "
            "name their column: --cluster COLUMN."
        )
    return None


def _require_column(units: pd.DataFrame, name: str) -> None:
    known = [column for column in units.columns if column not in ("text", "context")]
    if name not in known:
        raise ArgumentError(
            f"report: expected a column of the study's units – found {name!r} – {did_you_mean(name, known)}"
        )


def _refuse_taken(folder: Path, names: list[str], formats: list[str], *, overwrite: bool) -> None:
    """Refuse before anything is computed, so that a report is never half old and half new."""
    taken = [
        path.name
        for name in names
        for form in (*formats, *_PICTURES)
        if (path := folder / f"{name}.{form}").exists()
    ]
    if taken and not overwrite:
        raise StoreError(
            f"report: expected a folder without a report – found {first_three(taken)} – name another folder, "
            "or pass --overwrite."
        )


def _agreement(
    decisions: pd.DataFrame, units: pd.DataFrame, codebook: Codebook, cluster: str | None, seed: int
) -> tuple[dict[str, Table], dict[str, Figure]]:
    from sense7_qual import agreement, figures, report

    by_code = agreement.by_code(decisions, units=units, cluster=cluster, seed=seed)
    name = (
        "texts" if cluster is None else "participants" if cluster == _PARTICIPANT else f"values of {cluster}"
    )
    tables = {
        "codebook": report.codebook_table(codebook),
        "reliability": report.reliability_table(by_code, codebook=codebook, cluster_name=name),
    }
    return tables, {"reliability": figures.agreement_plot(by_code, codebook=codebook)}


def _links(
    decisions: pd.DataFrame, units: pd.DataFrame, codebook: Codebook, cluster: str, parsed: argparse.Namespace
) -> tuple[dict[str, Table], dict[str, Figure]]:
    from sense7_qual import figures, links, report

    coders = sorted(set(decisions["coder"]) - {"consensus"})
    source = parsed.source or ("pooled" if len(coders) > 1 else coders[0])
    effects = links.code_to_rating(
        decisions, units, rating=parsed.rating, cluster=cluster, sources=[source], seed=parsed.seed
    )
    name = "participants" if cluster == _PARTICIPANT else f"values of {cluster}"
    table = report.link_table(
        effects, source=source, codebook=codebook, rating=parsed.rating, cluster_name=name
    )
    return {"links": table}, {"links": figures.link_plot(effects, source=source, codebook=codebook)}


def _write(
    folder: Path, made: Mapping[str, Table | Figure], formats: list[str] | tuple[str, ...], *, overwrite: bool
) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, each in made.items():
            for form in formats:
                each.write(folder / f"{name}.{form}", overwrite=overwrite)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"report: expected a folder that can be written at {str(folder)!r} – found "
            f"{error.strerror or type(error).__name__} – name another folder."
        ) from None
