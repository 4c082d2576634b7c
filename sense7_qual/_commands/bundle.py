"""`sense7-qual bundle`: what a stranger needs to recompute every table and figure, to publish it."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from sense7_qual._commands.words import STUDY, Parsers, new_place, opened

__all__ = ["add"]

_BUNDLE: Final = """\
Write what a stranger needs to recompute every table and figure of a study, to publish it (OSF,
Zenodo): data, codebooks and acts as far as they may go out, a script and a notebook that recompute
all of it and compare, the versions of all packages, and metadata. What was registered beforehand
(store.preregister) is followed. --texts has no default: "withheld" leaves no word of a
participant's in it, "redacted" has a block for each letter of an identifier that is found, "all"
has everything. Columns of words are left out unless they are named, but with "all". Read README.md
in it before you publish it."""


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    bundle = commands.add_parser(
        "bundle", help="write what a stranger needs to rerun the analysis", description=_BUNDLE
    )
    bundle.add_argument("study", metavar="STUDY", help=STUDY)
    bundle.add_argument("--out", metavar="PATH", required=True, help="a new folder, or a file in .zip")
    bundle.add_argument(
        "--texts", choices=("withheld", "redacted", "all"), required=True, help="what participants wrote"
    )
    bundle.add_argument("--rating", metavar="COLUMN", help="the rating that codes are linked to")
    bundle.add_argument("--cluster", metavar="COLUMN", help="the participant (default: case_id)")
    bundle.add_argument(
        "--condition", metavar="COLUMN", action="append", default=[],
        help="how often each code was applied by this column; may be given several times",
    )  # fmt: skip
    bundle.add_argument(
        "--variable", metavar="COLUMN", action="append", default=[],
        help="a column of words that stays; may be given several times",
    )  # fmt: skip
    bundle.add_argument(
        "--name", action="append", default=[], help="a name to redact; may be given several times"
    )
    bundle.add_argument(
        "--accept", action="append", default=[], metavar="FIELD",
        help="a field or column (round, case_id …) whose names you looked at; may be given several times",
    )  # fmt: skip
    bundle.add_argument("--format", metavar="csv,docx", default="csv,docx", help="of the tables")
    bundle.add_argument("--title", help="what it is called (default: after the codebook)")
    bundle.add_argument(
        "--author", action="append", default=[], metavar="'FAMILY, GIVEN; ORCID; AFFILIATION'",
        help="who made it (ORCID and affiliation may be left out); may be given several times",
    )  # fmt: skip
    bundle.add_argument("--licence", metavar="SPDX", help="such as CC-BY-4.0 (default: LICENSE.md asks)")
    bundle.add_argument("--keyword", action="append", default=[], help="may be given several times")
    bundle.add_argument("--software", metavar="ADDRESS", help="of the software that it was made with")
    bundle.add_argument("--seed", type=int, help="of the intervals (default: as registered, or 0)")
    bundle.add_argument("--overwrite", action="store_true", help="replace an earlier bundle there")
    bundle.set_defaults(run=_bundle)


def _bundle(parsed: argparse.Namespace) -> int:
    target = new_place(parsed.out, command="bundle")
    opened(parsed.study).copies.bundle(
        target,
        texts=parsed.texts,
        rating=parsed.rating,
        cluster=parsed.cluster,
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
    print(f"Bundled as {target}: its tables and figures were computed twice, and are the same.")
    print("Before you publish it: read README.md in it, and answer the questions in LICENSE.md.")
    return 0
