"""`sense7-qual bundle`: a bundle for publication, from which others recompute every table and figure."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from sense7_qual._commands.settled_by import add_settled_by, registered, settled_by
from sense7_qual._commands.words import STUDY, Parsers, new_place, opened

_BUNDLE: Final = """\
Write a bundle for publication (OSF, Zenodo) from which anybody can recompute every table and figure
of a study: data, codebooks and acts as far as they may be published, a script and a notebook that
recompute everything and compare, the versions of all packages, and metadata. A preregistered
analysis plan (store.preregister) is followed. --texts has no default: "withheld" includes no word
that a participant wrote, "redacted" masks each identifier that is found, "all" includes
everything. Columns of words are left out unless you name them or choose "all". Read the bundle's
README.md before you publish it."""


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    bundle = commands.add_parser(
        "bundle", help="write a bundle from which others can rerun the analysis", description=_BUNDLE
    )
    bundle.add_argument("study", metavar="STUDY", help=STUDY)
    bundle.add_argument("--out", metavar="PATH", required=True, help="a new folder, or a new .zip file")
    bundle.add_argument(
        "--texts",
        choices=("withheld", "redacted", "all"),
        required=True,
        help="how much of the participants' texts to include",
    )
    _add_analysis(bundle)
    bundle.add_argument("--name", action="append", default=[], help="a name to redact; can be repeated")
    bundle.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FIELD",
        help="a field or column (round, case_id …) that you have checked for names; can be repeated",
    )
    bundle.add_argument("--format", metavar="csv,docx", default="csv,docx", help="the formats of tables")
    _add_citation(bundle)
    bundle.add_argument("--seed", type=int, help="the seed of intervals (default: as registered, or 0)")
    bundle.add_argument("--overwrite", action="store_true", help="replace an earlier bundle")
    bundle.set_defaults(run=_bundle)


def _add_analysis(bundle: argparse.ArgumentParser) -> None:
    """Add what is analysed, how it was settled, and which columns of the units are kept."""
    bundle.add_argument("--rating", metavar="COLUMN", help="the rating that codes are linked to")
    bundle.add_argument("--cluster", metavar="COLUMN", help="the column of participants (default: case_id)")
    add_settled_by(bundle)
    bundle.add_argument(
        "--condition",
        metavar="COLUMN",
        action="append",
        default=[],
        help="also compare how often codes were applied by this column; can be repeated",
    )
    bundle.add_argument(
        "--variable",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column of words to keep; can be repeated",
    )


def _add_citation(bundle: argparse.ArgumentParser) -> None:
    """Add how the bundle is to be cited and reused."""
    bundle.add_argument("--title", help="the title (default: after the codebook)")
    bundle.add_argument(
        "--author",
        action="append",
        default=[],
        metavar="'FAMILY, GIVEN; ORCID; AFFILIATION'",
        help="an author (ORCID and affiliation are optional); can be repeated",
    )
    bundle.add_argument("--licence", metavar="SPDX", help="such as CC-BY-4.0 (default: LICENSE.md asks you)")
    bundle.add_argument("--keyword", action="append", default=[], help="a keyword; can be repeated")
    bundle.add_argument("--software", metavar="ADDRESS", help="the address of the software that made it")


def _bundle(parsed: argparse.Namespace) -> int:
    target = new_place(parsed.out, command="bundle")
    store = opened(parsed.study)
    store.copies.bundle(
        target,
        texts=parsed.texts,
        rating=parsed.rating,
        cluster=parsed.cluster,
        settled_by=settled_by(store, registered(store), parsed.settled_by, command="bundle"),
        seed=parsed.seed,
        conditions=parsed.condition,
        variables=parsed.variable,
        names=parsed.name,
        accept=parsed.accept,
        formats=[name.strip().lower().lstrip(".") for name in parsed.format.split(",")],
        title=parsed.title,
        authors=parsed.author,
        licence=parsed.licence,
        keywords=parsed.keyword,
        software=parsed.software,
        overwrite=parsed.overwrite,
        progress=sys.stderr.isatty(),
    )
    print(f"Bundled as {target}: its tables and figures were computed twice and are identical.")
    print("Before you publish it, read its README.md and answer the questions in LICENSE.md.")
    return 0
