"""Whether an act by itself fits the study: its values, its code and words, and what its text says.

That is the first half of the gate (`gate`), and asks nothing of other acts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from operator import attrgetter
from typing import Final

from sense7_qual._arguments import is_unicode
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, CodebookError
from sense7_qual.frames import is_model
from sense7_qual.store._operations.contents import checked_content, named

_TYPES: Final[Mapping[str, type]] = {"start": int, "end": int, "applied": bool}
_FIELDS: Final = [(name, _TYPES.get(name, str)) for name in Act.__slots__]
_values_of: Final = attrgetter(*Act.__slots__)
MOST_LETTERS: Final = 100_000
"""Of a memo, and of whatever else is written in words of one's own."""
_AT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def of_kind(acts: Sequence[Act], kind: str) -> list[Act]:
    """Return the acts of `kind` with those that take one of them back or do it again, in their order."""
    chosen = {(act.coder, act.undone_by) for act in acts if act.kind == kind}
    return [
        act
        for act in acts
        if act.kind == kind or (act.traits.takes_back and (act.coder, act.target) in chosen)
    ]


def as_acts(acts: Sequence[Act]) -> list[Act]:
    """Return `acts` as a list, or raise `ActError` where one is no act."""
    batch = list(acts) if isinstance(acts, Iterable) else []
    other = [type(act).__name__ for act in batch if not isinstance(act, Act)]
    if not isinstance(acts, Iterable):
        other = ["a single Act" if isinstance(acts, Act) else type(acts).__name__]
    if other:
        raise ActError(
            f"append: expected a list of acts – found {first_three(other)} – make them with acts.apply, "
            "acts.finish and so on."
        )
    return batch


def one_coder(batch: Sequence[Act]) -> str:
    """Return the coder of `batch`, or raise `ActError` where there are several."""
    coders = sorted({act.coder for act in batch})
    if len(coders) > 1:
        raise ActError(
            f"append: expected the acts of one coder – found those of {first_three(coders)} – call append "
            "once for each coder."
        )
    return coders[0]


def checked(
    act: Act,
    texts: Mapping[str, str],
    codebooks: Mapping[str, Codebook],
    *,
    gone: Set[str] = frozenset(),
) -> Act:
    """Return `act` with its quote, after checking it against the study.

    `gone` are those units in `texts` whose participants withdrew: an act on one, which a copy brings, comes
    in without its words.
    """
    _check_values(act)
    if act.traits.by != "coder":
        _refuse_model(act)
    _check_length(act)
    codebook = codebooks.get(act.codebook)
    if codebook is None:
        raise ActError(
            f"{named(act)}: expected a codebook of this study – found fingerprint {word(act.codebook)} – "
            "pass codebook=store.codebook."
        )
    if act.unit_id is not None and act.unit_id not in texts:
        raise ActError(
            f"{named(act)}: expected a unit of this study – found {word(act.unit_id)} – "
            f"{did_you_mean(act.unit_id, texts)}"
        )
    _check_code(act, codebook, codebooks)
    _check_facets(act, codebook)
    if act.unit_id in gone or is_erased(act):
        return act
    _check_span(act, texts)
    return checked_content(act, codebook, texts)


def _refuse_model(act: Act) -> None:
    """Refuse that a model decides what people decide: rounds, plans, options, rulings, quotes."""
    if is_model(act.coder):
        raise ActError(
            f"{named(act)}: expected the pseudonym of the person who decided it – found {act.coder!r}, which "
            "names a model – use the person's; nothing was recorded."
        )


def is_erased(act: Act) -> bool:
    """Return True where a withdrawal took the text of an act, which is empty since."""
    return act.text == "" and act.traits.text == "written"


def _check_values(act: Act) -> None:
    """Refuse what would be recorded as something else than it is."""
    for (name, kind), value in zip(_FIELDS, _values_of(act), strict=True):
        if value is None:
            continue
        if type(value) is not kind:
            raise ActError(
                f"{named(act)}: expected {kind.__name__} for {name} – found {type(value).__name__} – "
                "convert it."
            )
        if isinstance(value, str):
            _check_letters(act, name, value)
    if not _is_time(act.at):
        raise ActError(
            f"{named(act)}: expected the time in UTC like '2026-01-31T12:00:00.000Z' – found "
            f"{word(act.at)} – leave `at` out: it is filled in."
        )


def _check_letters(act: Act, name: str, value: str) -> None:
    if "\0" in value and name != "text":
        raise ActError(f"{named(act)}: expected {name} without NUL – found one in it – take it out.")
    if not value.isascii() and not is_unicode(value):
        raise ActError(
            f"{named(act)}: expected Unicode text for {name} – found half of a surrogate pair – send "
            "whole characters."
        )


def _check_length(act: Act) -> None:
    """Refuse more words than anybody writes, which every reading of the study would carry."""
    if act.traits.text == "written" and len(act.text or "") > MOST_LETTERS:
        raise ActError(
            f"{named(act)}: expected a {act.traits.noun} of at most {MOST_LETTERS:,} letters – found "
            f"{len(act.text or ''):,} – shorten it, or keep the long text in a file of its own; nothing was "
            "recorded."
        )


def _is_time(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:  # a month 13, which nothing could put in order later
        return False
    return _AT.fullmatch(value) is not None


def knows_code(act: Act, codebooks: Mapping[str, Codebook]) -> bool:
    """Return True if the code of an act, if it has one, is of its codebook, which must be one of `codebooks`.

    What was coded before a code was merged, split or retired can still be taken away, and a memo on it still
    be written: for these any version of the codebook will do.
    """
    if act.code is None:
        return True
    books = codebooks.values() if act.traits.code == "ever" else [codebooks[act.codebook]]
    return any(act.code in book for book in books)


def _check_code(act: Act, codebook: Codebook, codebooks: Mapping[str, Codebook]) -> None:
    if not knows_code(act, codebooks):
        raise ActError(
            f"{named(act)}: expected a code of codebook {codebook.name!r} – found {word(act.code)} – "
            f"{did_you_mean(str(act.code), codebook.ids)}"
        )
    if act.code is None:
        return
    if act.traits.code == "codable" and not codebook[act.code].codable:
        raise ActError(
            f"{named(act)}: expected a code that can be applied – found {act.code!r}, which only groups "
            "others – use one of the codes under it."
        )


def _check_facets(act: Act, codebook: Codebook) -> None:
    read_as = act.traits.facets
    if (
        act.facets is None
        or read_as in ("quote", "abstention")
        or (read_as == "ruling" and act.facets == f"reason={act.reason}")
    ):
        return
    if read_as != "coding":
        raise ActError(
            f"{named(act)}: expected facets only in a coding – found them in an act of kind {act.kind!r} – "
            "leave them out; a ruling has a reason."
        )
    try:
        codebook.check_facets(str(act.code), act.facet_values)
    except CodebookError as error:
        raise ActError(f"{named(act)}: {error}") from None


def _check_span(act: Act, texts: Mapping[str, str]) -> None:
    n_points = len(texts.get(str(act.unit_id), ""))
    if act.end is not None and act.end > n_points:
        raise ActError(
            f"{named(act)}: expected a span within the text's {n_points} code points – found {act.start} … "
            f"{act.end} – count Unicode code points, not bytes or UTF-16 units."
        )
