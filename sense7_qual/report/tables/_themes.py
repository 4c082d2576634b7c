"""Tables of what models proposed: themes and suggestions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present, codings, themes
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._present import MISSING, count
from sense7_qual.codebook import Change, Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._quote_passages import covered
from sense7_qual.report._review_facts import Study, require_study
from sense7_qual.report._table import Table, left_then_right, made_with, statements_of_models
from sense7_qual.suggestions import ANSWERS

_BEGAN: Final = "there as coding began"
_MOST: Final = 8  # memos beside a code; all of them stand in `report.tables.memo`
_BY_MODEL: Final = ("recorded", "not found again")
_PLAIN: Final = {
    "add": "added",
    "annotate": "other examples, colour or sources",
    "redefine": "redefined",
    "reword": "reworded, with the same meaning",
    "narrow": "narrowed",
    "widen": "widened",
    "retire": "retired",
}

Lines = dict[str, list[str]]


def theme(store: Study, *, with_memos: bool = False, notes: Sequence[str] = ()) -> Table:
    """Tabulate the history of themes and codes: what was done with each, when, by whom and why.

    For work that argues from how the analysis moved, such as reflexive thematic analysis. One row per code
    and heading of the codebook, in its order, then those that are gone, then themes of a topic model that
    people named, merged, split, dismissed or made codes of: its history, in how many texts of how many
    participants it was applied (a heading: any code under it), and the memos that are its evidence: on the
    code, and on texts and words to which it was applied.

    Parameters
    ----------
    store : Store
        The study, with all that it shows to who has it open.
    with_memos : bool
        Whether memos are printed, which may repeat what participants wrote; by default their number is.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    ArgumentError
        `store` is no open study.

    References
    ----------
    Braun & Clarke (2021), One size fits all? What counts as quality practice in (reflexive) thematic
    analysis?, Qualitative Research in Psychology 18(3), 328–352: themes are made, and how is to be told.

    Examples
    --------
    ``report.theme(store, with_memos=True).write("themes.docx")``
    """
    check_arguments(theme, locals(), but=("store",))
    require_study(store, function="theme")
    book, found = store.codebook, themes.history(store.acts())
    lives, labels = _lives(store, found)
    applied, memos = _applied(store), _memos(store)
    rows = []
    for code, lines in lives.items():
        is_heading = code in book and not book[code].codable
        own = applied[applied["code"].isin(_with_those_below(code, book) if is_heading else {code})]
        beside = _memos_on(code, own, memos)
        rows.append((_called(code, book, labels), _listed(lines), _texts(own), _told(beside, with_memos)))
    rows += _of_the_model(found, book)
    left = set(found["theme"]) - {theme for theme, _ in _changed(found)}
    return Table(
        title="How themes and codes came about",
        headers=("Theme or code", "History", "Applied in", "Memos"),
        rows=tuple(rows),
        notes=(*_notes(len(left), with_memos), *_expected(store), *notes, made_with(book)),
        layout="list",
    )


def _lives(store: Study, found: pd.DataFrame) -> tuple[Lines, dict[str, str]]:
    """Return the fate and the last label of each code, removed codes last."""
    revisions, books, book = store.revisions, store.codebooks, store.codebook
    first = books[revisions[0].base] if revisions else book
    lives: Lines = defaultdict(list)
    labels: dict[str, str] = {}
    for code in first.codes:
        lives[code.id].append(_BEGAN)
        labels[code.id] = code.label
    for step in revisions:
        old, new = books[step.base], books[step.codebook]
        labels |= {code.id: code.label for code in (*old.codes, *new.codes)}
        told = [each for change in step.changes for each in _what(change, old, new)]
        together: dict[str, list[str]] = defaultdict(list)
        for code_id, what in (*_of_headings(old, new), *told):
            together[code_id].append(what)
        for code_id, all_of in together.items():
            lives[code_id].append(_line(step.at, step.coder, "; ".join(all_of), step.why))
    for row in found[found["done"] == "made a code"].itertuples():
        lives[str(row.value)].append(_line(row.at, row.coder, f"made of theme {row.theme}", row.why))
    order = [*(code.id for code, _ in book.tree), *(code for code in labels if code not in book)]
    return {code: lives[code] for code in order if lives[code]}, labels


def _what(change: Change, old: Codebook, new: Codebook) -> Iterator[tuple[str, str]]:
    """Yield the codes that a change is about, and what it says of each."""
    own = old[change.code].label if change.code in old else new[change.code].label
    if change.kind == "merge":
        yield change.code, f"merged into “{new[change.into[0]].label}”"
        yield change.into[0], f"“{own}” was merged into it"
    elif change.kind == "split":
        yield change.code, "split into " + ", ".join(f"“{new[one].label}”" for one in change.into)
        for one in change.into:
            yield one, f"came of “{own}”, which was split"
    elif change.kind == "rename":
        yield change.code, _renamed(change.code, old, new)
    elif change.kind == "move":
        yield change.code, _moved(change.code, new)
    elif change.kind == "retire" and change.code in new:
        yield change.code, "made a heading"
    else:
        yield change.code, _PLAIN[change.kind]


def _of_headings(old: Codebook, new: Codebook) -> Iterator[tuple[str, str]]:
    """Yield what became of headings, which no coding is carried over for, so that no revision lists them."""
    was, is_now = ({one.id: one for one in book.codes if not one.codable} for book in (old, new))
    yield from ((code, "taken away") for code in was if code not in new)
    for code, one in is_now.items():
        before = was.get(code)
        if before is None:
            yield from [(code, "added as a heading")] if code not in old else []
            continue
        if before.label != one.label:
            yield code, _renamed(code, old, new)
        if before.parent != one.parent:
            yield code, _moved(code, new)
        if before.definition != one.definition:
            yield code, _PLAIN["redefine"]


def _renamed(code: str, old: Codebook, new: Codebook) -> str:
    return f"renamed from “{old[code].label}” to “{new[code].label}”"


def _moved(code: str, new: Codebook) -> str:
    parent = new[code].parent
    return f"moved under “{new[parent].label}”" if parent else "moved out of its heading"


def _line(at: Any, coder: Any, what: str, why: Any) -> str:
    reason = "" if why is None or pd.isna(why) or not why else f": {why}"
    return f"{str(at)[:10]}, {coder}: {what}{reason}"


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"• {line}" for line in lines) if len(lines) > 1 else "".join(lines)


def _called(code: str, book: Codebook, labels: Mapping[str, str]) -> str:
    if code not in book:
        return f"{labels[code]}\n(no longer in the codebook)"
    one = book[code]
    under = f"\n(under {book[one.parent].label})" if one.parent else ""
    return f"{one.label}{under}" + ("" if one.codable else "\n(heading)")


def _with_those_below(code: str, book: Codebook) -> set[str]:
    below, now = set[str](), {code}
    while now:
        below |= now
        now = {each.id for each in book.codes if each.parent in now}
    return below


def _applied(store: Study) -> pd.DataFrame:
    """Return the codings on finished texts under the present codebook, with the participant."""
    standing, _ = codings.carried(
        store.codings(), store.coverage(), store.codebook, revisions=store.revisions
    )
    cases = store.units.set_index("unit_id")["case_id"]
    return standing.assign(case_id=standing["unit_id"].map(cases).to_numpy())


def _texts(own: pd.DataFrame) -> str:
    n, people = own["unit_id"].nunique(), own["case_id"].nunique()
    if not n:
        return MISSING
    texts = f"{count(n)} {'text' if n == 1 else 'texts'}"
    whose = f" of {count(people)} {'participant' if people == 1 else 'participants'}"
    return texts + ("" if own["case_id"].isna().any() else whose)


def _memos(store: Study) -> pd.DataFrame:
    """Return the memos but those on texts with words that a paraphrase replaces, which they may repeat."""
    memos = store.memos()
    on_text = memos["target_kind"].isin(["unit", "span"])
    return memos[~(on_text & memos["target_id"].isin(list(covered(store.quotes()))))]


def _memos_on(code: str, own: pd.DataFrame, memos: pd.DataFrame) -> pd.DataFrame:
    """Return the memos on a code, and on texts and words to which it was applied, the oldest first."""
    on_code = memos[(memos["target_kind"] == "code") & (memos["target_id"] == code)]
    on_text = memos[memos["target_kind"].isin(["unit", "span"])]
    pairs = on_text.merge(
        own[["unit_id", "start", "end"]], left_on="target_id", right_on="unit_id", suffixes=("", "_coded")
    )
    apart = (pairs["end"] <= pairs["start_coded"]) | (pairs["start"] >= pairs["end_coded"])
    near = set(pairs.loc[~apart.fillna(False).astype(bool), "memo_id"])
    both = pd.concat([on_code, on_text[on_text["memo_id"].isin(near)]])
    return both.sort_values(["at", "memo_id"], kind="stable")


def _told(beside: pd.DataFrame, with_memos: bool) -> str:
    if beside.empty:
        return MISSING
    if not with_memos:
        return count(len(beside))
    lines = [
        f"{str(row.at)[:10]}, {row.coder}{'' if row.target_kind == 'code' else f', on {row.target_id}'}: "
        f"{row.text}"
        for row in beside.head(_MOST).itertuples()
    ]
    more = len(beside) - _MOST
    return _listed([*lines, *([f"… and {count(more)} more"] if more > 0 else [])])


def _changed(found: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield the themes of a topic model with which people did anything."""
    for theme, steps in found.groupby("theme", sort=True):
        if not steps["done"].isin(_BY_MODEL).all():
            yield int(str(theme)), steps


def _of_the_model(found: pd.DataFrame, book: Codebook) -> Iterator[tuple[str, str, str, str]]:
    for theme, steps in _changed(found):
        named = steps.loc[steps["done"].isin(["named", "name taken off"]), "value"]
        name = f": {named.iloc[-1]}" if len(named) and pd.notna(named.iloc[-1]) else ""
        lines = [_line(row.at, row.coder, _step(row, book), row.why) for row in steps.itertuples()]
        yield f"Theme {theme} of the topic model{name}", _listed(lines), MISSING, MISSING


def _step(row: Any, book: Codebook) -> str:
    if row.done == "recorded":
        return f"recorded with {count(row.n_units)} texts"
    if pd.isna(row.value):
        return str(row.done)
    if row.done == "merged into":
        return f"merged into theme {row.value}"
    if row.done == "split into":
        return f"split into the themes {row.value}"
    label = book[row.value].label if row.done == "made a code" and row.value in book else row.value
    return f"{row.done} “{label}”"


def _notes(n_left: int, with_memos: bool) -> Iterator[str]:
    yield (
        "Applied in: texts to which the code, or under a heading any code, was applied in a finished text. "
        f"Memos: on the code, and on texts and words to which it was applied. {MISSING} = none."
    )
    if n_left:
        themes_left = "1 theme" if n_left == 1 else f"{count(n_left)} themes"
        yield f"Left as the topic model found them: {themes_left}."
    if with_memos:
        yield "Memos are printed as written: check each for what could identify a person before publishing."


def _expected(store: Study) -> Iterator[str]:
    """Yield which codes the last run found by their definitions, and which no text seems to show."""
    runs = store.acts(kind="record_themes")
    content = json.loads(str(runs[-1].text)) if runs else {}
    if "expected" not in content:
        return
    book = store.codebook
    found = sorted(content["expected"].items(), key=lambda one: int(one[0]))
    told = {
        "Expected by the definitions and examples of the codebook": [
            f"“{_labelled(code, book)}” (theme {theme})" for theme, code in found
        ],
        "Codes that no text seemed to show": [
            f"“{_labelled(code, book)}”" for code in content["parameters"]["codes_not_shown"]
        ],
        "Themes near no code": [
            str(one) for one in content["summary"]["theme"] if str(one) not in dict(found)
        ],
    }
    yield ". ".join(f"{what}: {', '.join(names) or 'none'}" for what, names in told.items()) + "."


def _labelled(code: str, book: Codebook) -> str:
    return book[code].label if code in book else code


_ANSWERS: Final = {
    "agreed": "Agreed",
    "withdrawn": "Withdrawn",
    "accepted": "Accepted",
    "edited": "Edited",
    "rejected": "Rejected",
    "none": "No answer",
}


def suggestion(
    answers: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    models: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate a model's suggestions: how many coders were shown, and what they did with them.

    One row per code, and one for all of them: suggestions shown, those that the coder's own decision had
    already (agreed, or withdrawn afterwards), and of the others those that were accepted, edited (coded on
    other words), rejected, or left without an answer, and the share of the others that was taken over.

    Parameters
    ----------
    answers : DataFrame
        The result of `suggestions.answers`: a row per coder, unit and suggested code.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    models : mapping of str to str, optional
        For each model what a reader needs to know of it, for the foot: name and version, prompt or features,
        settings, date. The foot says where this is not stated.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, or holds other answers than `suggestions.answers` gives.
    CodebookError
        A code is not in the codebook.

    Examples
    --------
    >>> answers = pd.DataFrame({"unit_id": ["m1", "m2", "m3"], "coder": "ana", "code": "interest",
    ...                         "model": "words", "when": "finished", "before": [True, False, False],
    ...                         "answer": ["agreed", "accepted", "rejected"]})
    >>> suggestion(answers).rows[0]
    ('interest', '3', '1', '0', '1', '0', '1', '0', '50.0')
    """
    check_arguments(suggestion, locals())
    _check(answers)
    codes = pd.DataFrame({"code": answers["code"].astype("string").unique()})
    rows = _present.rows(codes, frame_name="answers", codebook=codebook)
    of_code = {str(code): some for code, some in answers.groupby("code", sort=False)}
    return Table(
        title="Suggestions of a model, and what coders did with them",
        headers=("Code", "Shown", *_ANSWERS.values(), "Taken over (%)"),
        rows=(
            *((str(row["label"]), *_counts(of_code[str(row["code"])])) for row in rows),
            ("All codes", *_counts(answers)),
        ),
        notes=(
            "Agreed, withdrawn = the coder's own decision had the code before, and still has it or not; "
            "accepted = coded afterwards on the words suggested; edited = on others; taken over = share of "
            f"accepted and edited in those that the coder did not have before ({_present.MISSING} = none).",
            _shown(answers),
            *statements_of_models(
                list(dict.fromkeys(answers["model"].astype("string").dropna())), read_mapping(models)
            ),
            *notes,
            made_with(codebook),
        ),
        alignments=left_then_right(1, 8),
    )


def _check(answers: pd.DataFrame) -> None:
    ANSWERS.require(answers)
    known: dict[str, list[str] | list[bool]] = {
        "answer": list(_ANSWERS),
        "when": ["finished", "shown"],
        "before": [True, False],
    }
    for name, values in known.items():
        wrong = int((~answers[name].isin(values)).sum())
        if wrong:
            raise TableError(
                f"answers: expected {' or '.join(map(str, values))} in the column {name!r} – found {wrong} "
                "other values – pass the result of suggestions.answers."
            )


def _counts(answers: pd.DataFrame) -> tuple[str, ...]:
    given = [int((answers["answer"] == name).sum()) for name in _ANSWERS]
    taken = answers["answer"].isin(["accepted", "edited"])
    new = ~answers["before"].astype(bool)
    share = _present.percent(taken[new].mean()) if new.any() else _present.MISSING
    return (*(_present.count(n) for n in [len(answers), *given]), share)


def _shown(answers: pd.DataFrame) -> str:
    """Return to whom and when suggestions were shown: before a coder decides they may sway the decision."""
    n_units, n_coders = answers["unit_id"].nunique(), answers["coder"].nunique()
    first = int((answers["when"] == "shown").sum())
    return (
        f"Suggestions on {_present.count(n_units)} texts to coders (number: {_present.count(n_coders)}): "
        f"{_present.count(len(answers) - first)} after the coder had finished the text, "
        f"{_present.count(first)} from the start."
    )
