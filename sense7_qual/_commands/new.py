"""`sense7-qual new`: from a data file to a study with its notebooks."""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sense7_qual._atomic import save
from sense7_qual._commands.columns import PREVIEW, ROLES, choose, known_as, listed
from sense7_qual._commands.words import STUDY, Parsers, count, is_address
from sense7_qual._messages import first_three
from sense7_qual.errors import ArgumentError, StoreError

if TYPE_CHECKING:
    import pandas as pd

    from sense7_qual.codebook import Code, Codebook
    from sense7_qual.store import Store

_NEW: Final = """\
Make a study from a data file (.csv, .tsv, .xlsx, .json, .jsonl, .ndjson or .parquet), with a
short notebook for coders and one for the lead next to it. The command lists the columns with
their numbers, proposes which is what and asks once: Enter accepts, "-" means none. --yes
accepts the proposal without asking, and stops where only you can answer. A COLUMN is a name
or a number. Existing files are never overwritten."""
_NAMED: Final = 8  # columns that are kept
_TEMPLATES: Final = Path(__file__).parent / "notebooks"
_NO_PATH: Final = re.compile(r"[^\w-]+")
_QUESTION: Final = "question"  # the variable of `corpus.read` that names it
_PARAMETERS: Final = "parameters"  # the tag of the one cell that is replaced


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    new = commands.add_parser("new", help="make a study from a data file", description=_NEW)
    new.add_argument("study", metavar="STUDY", help=f"{STUDY}; it must not exist yet")
    new.add_argument("--data", metavar="FILE", required=True, help="the file with the texts, one per row")
    for role, (_, meaning) in ROLES.items():
        option = f"--{role.replace('_', '-')}"
        new.add_argument(option, metavar="COLUMN", dest=role, help=f"the column of the {meaning}")
    new.add_argument(
        "--codebook",
        action="append",
        metavar="FILE",
        help="a codebook (YAML, CSV, XLSX, DOCX) or the name of a shipped one (default: sense7); several, "
        "such as --codebook Q19=a.xlsx --codebook Q22=b.xlsx: a study for each question",
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
    new.add_argument("--delimiter", metavar="SIGN", type=_delimiter, help="what separates the cells: , ; tab")
    new.add_argument(
        "--header",
        metavar="LINES",
        type=_lines,
        help="1: line 1 holds the names; 1,2: and line 2 the questions",
    )
    new.add_argument("--kind", choices=("table",), help="table: ignore the marks of survey programs")
    new.add_argument(
        "--preview", metavar="HOW", choices=PREVIEW, help="skip or keep the previews and tests of a survey"
    )
    new.add_argument("--skip-empty", action="store_true", help="with --yes: leave out rows without a text")
    new.add_argument("--yes", action="store_true", help="accept the proposal and ask nothing")
    new.set_defaults(run=_new)


def _new(parsed: argparse.Namespace) -> int:
    books = _codebooks(parsed)
    studies = {word: f"{parsed.study}_{_NO_PATH.sub('_', word)}" if word else parsed.study for word in books}
    notebooks = {word: _notebook_paths(study) for word, study in studies.items()}
    units, rating, questions = _units(parsed)
    coders = _coders(parsed, units)
    for (word, book), question in zip(books.items(), questions if any(books) else [""], strict=True):
        own = units[units[_QUESTION] == question] if question else units
        by_question = _QUESTION if not question and len(questions) > 1 else None
        _make(parsed, studies[word], own, book, rating=rating, coders=coders, stratify=by_question)
        for name, path in notebooks[word].items():
            study = studies[word] if is_address(studies[word]) else Path(studies[word]).absolute().name
            _put_notebook(name, path, study=study, rating=rating, coders=coders, lead=parsed.lead)
        print(f"Notebooks: {' (coders) and '.join(map(str, notebooks[word].values()))} (lead).")
        coder = (coders or ["PSEUDONYM"])[0]
        print(f"Code without a notebook: sense7-qual code {studies[word]} --coder {coder}")
    return 0


def _codebooks(parsed: argparse.Namespace) -> dict[str, Codebook]:
    """Return the codebook of each question, by the column as it was typed; "" for one of all."""
    from sense7_qual.codebook import Codebook

    named = [
        ("", each) if Path(each).exists() else each.rpartition("=")[::2]
        for each in parsed.codebook or ["sense7"]
    ]
    words = [word for word, _ in named if word]
    if (words and parsed.text) or (len(named) > 1 and (len(words) < len(named) or is_address(parsed.study))):
        raise ArgumentError(
            "new: expected a question for each of several codebooks, such as --codebook Q19=a.xlsx, a folder "
            "and no --text – correct the options."
        )
    parsed.text, parsed.fixed = (",".join(words), ("text",)) if words else (parsed.text, ())
    books = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for word, path in named:
            books[word if len(named) > 1 else ""] = Codebook.read(path)
    for warning in said:
        print(warning.message)
    _refuse_other_codes(list(books.values()))
    return books


def _refuse_other_codes(books: Sequence[Codebook]) -> None:
    """Refuse one id for two different codes: the decisions of all questions can then be put together."""
    known: dict[str, Code] = {}
    other = [code.id for book in books for code in book.codes if known.setdefault(code.id, code) != code]
    if other:
        raise ArgumentError(
            f"new: expected one code for each id in all codebooks – found others for {first_three(other)} – "
            "give one of them another id."
        )


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


def _delimiter(word: str) -> str:
    return {"tab": "\t", "\\t": "\t"}.get(word, word)


def _lines(words: str) -> list[int]:
    if not re.fullmatch("[0-9]+(,[0-9]+)?", words):
        raise argparse.ArgumentTypeError(f"expected a line or two, such as 1 or 1,2, found {words!r}")
    return [int(line) for line in words.split(",")]


def _units(parsed: argparse.Namespace) -> tuple[pd.DataFrame, str | None, list[str]]:
    """Return the units of the data file, the name of the rating, and the questions if there are several."""
    from sense7_qual import corpus

    options = ("delimiter", "encoding", "sheet", "header", "kind")
    found = corpus.recognise(parsed.data, **{option: getattr(parsed, option) for option in options})
    print(f"{Path(parsed.data).name} – {found!r}")
    corpus.refuse_other(found)  # before anything is asked
    print(*listed(found), sep="\n")
    given = {role: getattr(parsed, role) for role in ROLES}
    said = {"preview": parsed.preview, "skip_empty": parsed.skip_empty, "fixed": parsed.fixed}
    choice = choose(found, given, **said, ask=not parsed.yes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was left out is in the lines above
        units = corpus.read(replace(found, roles={}), **choice.arguments(), empty="skip")
    names = [name for name in found.table.columns.tolist() if name in units and name not in choice.taken]
    kept = [known_as(found, name) for name in names]
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    print(f"Kept as further columns: {', '.join(kept[:_NAMED]) or '–'}{more}")
    rated = choice.columns["rating"]
    questions = units[_QUESTION].unique().tolist() if len(choice.columns["text"]) > 1 else []
    return units, "rating" if len(rated) > 1 else next(iter(rated), None), questions


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


def _make(
    parsed: argparse.Namespace,
    study: str,
    units: pd.DataFrame,
    book: Codebook,
    *,
    rating: str | None,
    coders: list[str],
    stratify: str | None,
) -> None:
    """Create a study, and assign its texts."""
    from sense7_qual.store import Store

    store = Store.create(study, units=units, codebook=book, lead=parsed.lead)
    print(f"Created {_described(units)}, codebook {book.name} ({count(len(book.codes), 'code')}).")
    if rating is not None:
        store.set_options(rating_column=rating, coder=parsed.lead)
    if coders:
        _assign(store, coders, parsed, stratify)


def _described(units: pd.DataFrame) -> str:
    participants = units["case_id"].nunique()
    by = f" by {count(participants, 'participant')}" if participants else ""
    return f"a study of {count(len(units), 'text')}{by}"


def _assign(store: Store, coders: list[str], parsed: argparse.Namespace, stratify: str | None) -> None:
    how = {"overlap": parsed.overlap, "seed": parsed.seed, "stratify": stratify}
    plan = store.assign(coders=coders, coder=parsed.lead, **how)
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
