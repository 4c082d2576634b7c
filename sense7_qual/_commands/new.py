"""`sense7-qual new`: from a data file to a study with its notebooks; columns are guessed, named or asked."""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from sense7_qual._atomic import save
from sense7_qual._commands.words import STUDY, Parsers, count, is_address
from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError, StoreError

if TYPE_CHECKING:
    from sense7_qual.codebook import Codebook
    from sense7_qual.store import Store

__all__ = ["NONE", "ROLES", "add", "chosen_columns", "shown"]

_NEW: Final = """\
Make a study from a data file (.csv, .tsv, .xlsx, .jsonl, .ndjson or .parquet), with a short
notebook for coders and one for the lead next to it. The command guesses the columns, shows
them and asks you to confirm: Enter accepts the guess, "-" means none. --yes accepts all
guesses without asking. Existing files are never overwritten."""
_TEMPLATES: Final = Path(__file__).parent / "notebooks"
_PARAMETERS: Final = "parameters"  # the tag of the one cell that is replaced
_HEADERS: Final = {"1": 1, "1,2": (1, 2)}


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    new = commands.add_parser("new", help="make a study from a data file", description=_NEW)
    new.add_argument("study", metavar="STUDY", help=f"{STUDY}; it must not exist yet")
    new.add_argument("--data", metavar="FILE", required=True, help="the file with the texts, one per row")
    for role, meaning in ROLES.items():
        option = f"--{role.replace('_', '-')}"
        new.add_argument(option, metavar="COLUMN", dest=role, help=f"the column of {meaning}")
    new.add_argument(
        "--codebook",
        default="sense7",
        help="a YAML or CSV file, or the name of a shipped codebook (default: sense7)",
    )
    new.add_argument("--coders", metavar="ana,ben", help="the coders; the texts are assigned to them")
    new.add_argument(
        "--overlap", type=float, default=0.25, help="the share of texts that all coders code (default: 0.25)"
    )
    new.add_argument("--seed", type=int, default=0, help="the seed of the random assignment (default: 0)")
    new.add_argument(
        "--lead", default="lead", help="the pseudonym of the lead, who assigns the texts (default: lead)"
    )
    new.add_argument("--sheet", help="the sheet of a workbook with several sheets")
    new.add_argument("--encoding", help="the encoding of a text file that is not UTF-8")
    new.add_argument(
        "--header", choices=tuple(_HEADERS), help="1: line 1 is the header; 1,2: line 2 holds the questions"
    )
    new.add_argument("--skip-empty", action="store_true", help="leave out rows without a text")
    new.add_argument("--yes", action="store_true", help="accept all guesses and ask nothing")
    new.set_defaults(run=_new)


def _new(parsed: argparse.Namespace) -> int:
    from sense7_qual.codebook import Codebook

    notebooks = _notebook_paths(parsed.study)
    codebook = Codebook.read(parsed.codebook)
    units, rating = _units(parsed)
    coders = _coders(parsed, units)
    store = _made(parsed.study, units, codebook, lead=parsed.lead)
    print(f"Created {_described(units)}, codebook {codebook.name} ({count(len(codebook.codes), 'code')}).")
    if rating is not None:
        store.set_options(rating_column=rating, coder=parsed.lead)
    if coders:
        _assign(store, coders, parsed)
    study = parsed.study if is_address(parsed.study) else Path(parsed.study).absolute().name
    for name, path in notebooks.items():
        _put_notebook(name, path, study=study, rating=rating, coders=coders, lead=parsed.lead)
    print(f"Notebooks: {' (coders) and '.join(map(str, notebooks.values()))} (lead).")
    print(f"Code without a notebook: sense7-qual code {parsed.study} --coder {(coders or ['PSEUDONYM'])[0]}")
    return 0


def _notebook_paths(study: str) -> dict[str, Path]:
    """Return the paths of the notebooks: next to the folder, or here; refuse existing ones."""
    if is_address(study):
        named = re.search(r"[?&]study=(\w+)", study)
        stem = Path(named[1] if named else "sense7_qual")
    else:
        stem = Path(study)
    if not stem.name:
        raise ArgumentError(f"new: {study!r} is not the name of a new folder – name one.")
    if not is_address(study) and stem.exists() and not (stem.is_dir() and not any(stem.iterdir())):
        raise StoreError(  # before anything is asked
            f"new: {study!r} already exists and was left unchanged – give the study another name."
        )
    paths = {name: stem.with_name(f"{stem.name}_{name}.ipynb") for name in ("coding", "lead")}
    taken = [path.name for path in paths.values() if path.exists() or path.is_symlink()]
    if taken:
        raise StoreError(
            f"new: the notebook {taken[0]!r} already exists and was left unchanged – move it, or give the "
            "study another name."
        )
    return paths


def _units(parsed: argparse.Namespace) -> tuple[pd.DataFrame, str | None]:
    """Return the units of the data file, and the name of the rating."""
    from sense7_qual import corpus

    how: dict[str, Any] = {"encoding": parsed.encoding, "sheet": parsed.sheet}
    how["header"] = _HEADERS.get(parsed.header)
    described = corpus.describe_columns(parsed.data, **how)
    columns = ", ".join(map(shown, described["column"]))
    print(f"{Path(parsed.data).name} has the columns {columns}.")
    given = {role: getattr(parsed, role) for role in ROLES}
    roles = chosen_columns(described, given, ask=not parsed.yes)
    for role, column in roles.items():
        print(f"  {ROLES[role]}: {'–' if column is None else shown(column)}")
    taken = set(roles.values())
    text, rating = roles.pop("text"), roles.pop("rating")
    named: dict[str, Any] = {role: column for role, column in roles.items() if column is not None}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        units = corpus.read(
            parsed.data,
            text=str(text),
            **named,
            ratings=[] if rating is None else [rating],
            empty="skip" if parsed.skip_empty else "error",
            **how,
        )
    others = [shown(column) for column in described["column"] if column in units and column not in taken]
    print(f"  kept as further columns: {', '.join(others) or '–'}")
    for warning in said:
        print(f"  {warning.message}")
    return units, rating


def _coders(parsed: argparse.Namespace, units: pd.DataFrame) -> list[str]:
    """Return the coders; try to assign the texts first, so that an error comes before anything is made."""
    from sense7_qual.acts import check_person
    from sense7_qual.corpus import assign

    named = parsed.coders
    if named is None and not parsed.yes:
        try:
            named = input("Pseudonyms of the coders, such as ana,ben (Enter: decide later): ")
        except EOFError:
            named = ""
    coders = [name.strip() for name in (named or "").split(",") if name.strip()]
    parsed.lead = check_person(parsed.lead)
    if coders:
        assign(units, coders=coders, overlap=parsed.overlap, seed=parsed.seed)
    return [check_person(coder) for coder in coders]


def _made(study: str, units: pd.DataFrame, codebook: Codebook, *, lead: str) -> Store:
    from sense7_qual.store import Store

    return Store.create(study, units=units, codebook=codebook, lead=lead)


def _described(units: pd.DataFrame) -> str:
    participants = units["case_id"].nunique()
    by = f" by {count(participants, 'participant')}" if participants else ""
    return f"a study of {count(len(units), 'text')}{by}"


def _assign(store: Store, coders: list[str], parsed: argparse.Namespace) -> None:
    plan = store.assign(coders=coders, overlap=parsed.overlap, seed=parsed.seed, coder=parsed.lead)
    assigned = plan["coder"].value_counts()
    shared = int((plan["unit_id"].value_counts() > 1).sum())
    each = ", ".join(f"{coder} {assigned[coder]:,}" for coder in coders)
    print(f"Assigned: {each} ({count(shared, 'text')} to several coders).")


def _put_notebook(name: str, path: Path, **named: Any) -> None:
    """Write a notebook from its template, whose cell of parameters names this study."""
    notebook = json.loads((_TEMPLATES / f"{name}.ipynb").read_text("utf-8"))
    cell = next(each for each in notebook["cells"] if _PARAMETERS in each["metadata"].get("tags", ()))
    lines = [f"study = {named['study']!r}", f"rating = {named['rating']!r}"]
    if name == "coding":
        known = f": one of {', '.join(named['coders'])}" if named["coders"] else ""
        lines.append(f'coder = ""  # your pseudonym{known}')
    else:
        lines.append(f"lead = {named['lead']!r}")
    cell["source"] = [f"{line}\n" for line in lines[:-1]] + lines[-1:]
    content = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    try:
        save(path, content.encode(), overwrite=False)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"new: the notebook {path.name!r} could not be written "
            f"({error.strerror or type(error).__name__}). The study is complete: code it with "
            "sense7-qual code."
        ) from None


NONE: Final = "-"
"""The answer for "no column"."""

ROLES: Final[Mapping[str, str]] = {
    "text": "the text to code",
    "case_id": "the participant",
    "document_id": "the conversation",
    "rating": "the rating",
    "unit_id": "the id of each row",
    "position": "the position in the conversation",
    "context": "what came before the text",
}
_ASKED: Final = ("text", "case_id", "document_id", "rating")


def chosen_columns(
    described: pd.DataFrame, given: Mapping[str, str | None], *, ask: bool
) -> dict[str, str | None]:
    """Return the column of each role, or None for a role without one; ask for those not given."""
    names = described["column"].tolist()
    guesses = described.dropna(subset="role").set_index("role")["column"].to_dict()
    chosen: dict[str, str | None] = {}
    for role in ROLES:
        answer = given[role]
        if answer is not None:
            if answer not in (*names, NONE):
                raise ArgumentError(_unknown(role, answer, names))
            chosen[role] = None if answer == NONE else answer
    taken = set(chosen.values())
    for role in ROLES:
        if role not in chosen:
            guess = None if guesses.get(role) in taken else guesses.get(role)
            chosen[role] = _ask(role, guess, names) if ask and role in _ASKED else guess
    if chosen["text"] is None:
        raise ArgumentError("new: no column of texts was given or guessed – name it with --text COLUMN.")
    return chosen


def _ask(role: str, guess: str | None, names: list[str]) -> str | None:
    offered = f" [{shown(guess)}]" if guess else f" ({NONE} for none)" if role != "text" else ""
    while True:
        try:
            answer = input(f"Column of {ROLES[role]}{offered}: ").strip()
        except EOFError:
            raise ArgumentError(
                "new: not a terminal, so it cannot ask about columns – name them (--text …), or accept the "
                "guesses with --yes."
            ) from None
        if not answer and (guess or role != "text"):
            return guess
        if answer == NONE and role != "text":
            return None
        if answer in names:
            return answer
        print(f"  No such column: {did_you_mean(answer, map(shown, names))}")


def _unknown(role: str, answer: str, names: list[str]) -> str:
    return (
        f"new: the file has no column {shown(answer)!r}, which was named for {ROLES[role]} – "
        f"{did_you_mean(answer, map(shown, names))}"
    )


def shown(column: Any) -> str:
    """Return a column's name; only its length if it may be a text, as in a file without a header."""
    name = str(column)
    short = len(name) <= 40 and len(name.split()) <= 4 and name.isprintable()
    return name if short else f"({len(name)} characters)"
