"""Codebooks with awkward texts in every place, as Hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st

from sense7_qual._messages import UNPRINTABLE
from sense7_qual.codebook import ORIGINS, UNSTATED, Code, Codebook, Facet, FacetValue

AWKWARD = [
    "no",
    "yes",
    "true",
    "null",
    "~",
    "007",
    "1e5",
    "0x1F",
    "12:30:45",
    "2026-01-02",
    ": ",
    "#",
    "a: b",
    "a #b",
    "- x",
    "[x",
    "{x",
    "* x",
    "& x",
    "! x",
    "| x",
    "> x",
    "% x",
    "@x",
    "`x",
    '"x',
    "'x'",
    "? x",
    "<<",
    "=",
    "---",
    "...",
    "🙂",
    "👩\u200d👧",
    "🇵🇹",
    "e\u0301",
    "עברית",
    " padded ",
    "a\nb",
    "a\n\nb\n",
    "\n",
    "a\r\nb",
    "a\rb",
    "\t",
    "\u2028",
    "a\u2029b",
    "\x85",
    "a \x85 b",
    "\x00",
    "\ufeff",
    "\x1b",
    "x" * 200,
    "word " * 60,
    "\xad",
    "\U0010ffff",
    "\uffff",
]
texts = st.one_of(st.sampled_from(AWKWARD), st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
names = texts.filter(lambda text: not UNPRINTABLE.search(text))
named = names.filter(lambda text: text.strip())
many = st.lists(texts, max_size=3).map(tuple)


@st.composite
def codebooks(draw: st.DrawFn) -> Codebook:
    ids = draw(
        st.lists(
            st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,9}", fullmatch=True), min_size=1, max_size=4, unique=True
        )
    )
    keys = draw(st.permutations([None, None, "1", "é", "#"]))
    codes = tuple(
        Code(
            id=code_id,
            label=draw(named),
            definition=draw(texts),
            use_when=draw(many),
            avoid_when=draw(many),
            examples=draw(many),
            counter_examples=draw(many),
            parent=draw(st.sampled_from([None, *ids[:number]])),
            colour=draw(st.sampled_from([None, "#2a7f62", "#000000"])),
            key=keys[number],
            origin=draw(st.sampled_from(["", *ORIGINS])),
            source=draw(texts),
            rules_source=draw(texts),
            codable=draw(st.booleans()),
        )
        for number, code_id in enumerate(ids)
    )
    facets = draw(drawn_facets([code.id for code in codes if code.codable]))
    own = {name: draw(names) for name in ("title", "version")}
    own |= {name: draw(texts) for name in ("description", "source", "licence")}
    return Codebook(name=draw(named), facets=facets, codes=codes, **own)


@st.composite
def drawn_facets(draw: st.DrawFn, codes: list[str]) -> tuple[Facet, ...]:
    """Up to two facets, for all of `codes` or for some, whose values have labels and keys or none."""
    labels = names.map(lambda text: " ".join(text.split()))
    word = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,4}", fullmatch=True)
    of = draw(st.lists(word.map("f_{}".format), max_size=2, unique_by=str.lower))
    keys = iter(draw(st.permutations([*"12345vé#", *[None] * 8])))
    some = st.lists(st.sampled_from(codes), max_size=2, unique=True) if codes else st.just([])
    value = word.filter(lambda name: name != UNSTATED)
    return tuple(
        Facet(
            name=name,
            label=draw(labels),
            codes=tuple(draw(some)),
            values=tuple(
                FacetValue(own, draw(labels), next(keys))
                for own in draw(st.lists(value, min_size=1, max_size=4, unique=True))
            ),
        )
        for name in of
    )
