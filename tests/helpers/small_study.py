"""A small study in the SENSE-7 codebook, its acts, and how a refusal reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook, Facet, FacetValue


def facet(name: str, *values: str, codes: tuple[str, ...] = (), **keys: str) -> Facet:
    """A facet whose values are their own labels; those with a key are named with it."""
    named = [*map(FacetValue, values), *(FacetValue(value, key=key) for value, key in keys.items())]
    return Facet(name=name, values=tuple(named), codes=codes)


CODEBOOK = Codebook(
    name="small",
    facets=(facet("valence", "met", "unmet", "mixed"),),
    codes=tuple(Code(id=i, label=i.title()) for i in ("interest", "relational", "affective", "prosocial")),
)


SENTINEL = "Sentinel-Quokka"


TEXTS = {
    "m1": f"It listened to me. {SENTINEL}",
    "m2": "Héllo 👩‍👩‍👧 שלום",
    "m3": "é\x00 = 1 + 1",
}


def frame_of(texts: dict[str, str] = TEXTS) -> pd.DataFrame:
    n = len(texts)
    return pd.DataFrame(
        {
            "unit_id": list(texts),
            "text": list(texts.values()),
            "document_id": [f"d{i}" for i in range(n)],
            "case_id": [f"p{i % 2}" for i in range(n)],
            "position": range(n),
        }
    )


def put(code: str = "interest", unit_id: str = "m1", coder: str = "ana", **named: object) -> Act:
    return acts.apply(**({"coder": coder, "unit_id": unit_id, "code": code, "codebook": CODEBOOK} | named))


def finish(unit_id: str = "m1", coder: str = "ana") -> Act:
    return acts.finish(coder=coder, unit_id=unit_id, codebook=CODEBOOK)


MEMO = acts.memo(coder="ana", unit_id="m1", text=SENTINEL, codebook=CODEBOOK)


OTHER = Codebook(name="other", codes=(Code(id="interest", label="I"), Code(id="warm", label="W")))


def changed(act: Act, **named: object) -> Act:
    return dataclasses.replace(act, **named)


def forced(act: Act, **named: object) -> Act:
    """An act with values that its constructor would refuse or convert."""
    for name, value in named.items():
        object.__setattr__(act, name, value)
    return act


REFUSED: list[tuple[str, Callable[[], list[Act]], str]] = [
    ("unit", lambda: [put(unit_id="m11")], "expected a unit of this study – found 'm11' – did you mean 'm1'"),
    ("unit kind", lambda: [forced(put(), unit_id=17)], "expected str for unit_id – found int"),
    ("code", lambda: [changed(put(), code="prosical")], "did you mean 'prosocial'"),
    ("codebook", lambda: [put(codebook=OTHER)], "expected a codebook of this study"),
    ("span", lambda: [put(unit_id="m2", start=0, end=17)], "within the text's 16 code points – found 0 … 17"),
    ("span of remove", lambda: [changed(put(start=0, end=99), kind="remove")], "within the text's"),
    ("quote", lambda: [changed(put(start=0, end=2), text=SENTINEL)], r"found other words \(15 code points"),
    ("text of a whole unit", lambda: [changed(put(), text=TEXTS["m1"])], "leave text out"),
    ("text of finish", lambda: [changed(finish(), text=SENTINEL)], "leave text out"),
    ("undo", lambda: [acts.undo(put(), codebook=CODEBOOK)], "found no such act of theirs"),
    ("redo", lambda: [acts.redo(put(), codebook=CODEBOOK)], "found no such act of theirs"),
    ("coders", lambda: [put(), put(coder="ben")], "found those of 'ana', 'ben' – call append once for each"),
    ("case", lambda: [put(coder="Kim")], "found 'Kim' next to 'kim'"),
    ("time", lambda: [put(at="yesterday")], "expected the time in UTC"),
    ("surrogate", lambda: [changed(MEMO, text=SENTINEL + "\ud83d")], "half of a surrogate pair"),
    ("memo", lambda: [changed(MEMO, target_kind="code")], "a memo on a unit, a span, a code or the study"),
    (
        "memo kind",
        lambda: [changed(MEMO, target_kind="page")],
        "a memo on a unit, a span, a code or the study",
    ),
    (
        "facet",
        lambda: [forced(put(), facets="valance=met")],
        "expected one of its facets – found 'valance' – did you mean 'valence'",
    ),
    (
        "value of a facet",
        lambda: [forced(put(), facets="valence=mett")],
        "expected one of its values – found 'mett' – did you mean 'met'",
    ),
    (
        "facets of finish",
        lambda: [changed(finish(), facets="valence=met")],
        "expected facets only in a coding – found them in an act of kind 'finish'",
    ),
    ("facets' form", lambda: [forced(put(), facets="valence")], "expected facets like 'intensity=high"),
    ("applied", lambda: [forced(put(), kind="rule", applied=1)], "expected bool for applied – found int"),
    ("no act", lambda: [put(), "finish"], "expected a list of acts – found 'str'"),
    ("one act", put, "expected a list of acts – found 'a single Act'"),
]
