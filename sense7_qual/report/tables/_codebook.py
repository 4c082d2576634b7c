"""The codebook as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sense7_qual._arguments import check_arguments
from sense7_qual._present import MISSING
from sense7_qual.codebook import Code, Codebook, Facet
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Layout, Table

__all__ = ["codebook"]

_CAPTION: Final = 300  # characters: TeX measures a caption on one line, which is 19 feet at most


def codebook(codebook: Codebook, *, layout: Layout = "list", notes: Sequence[str] = ()) -> Table:
    """Return the codebook as a table: each code's definition, rules of use, examples and origin.

    `layout` is "list", each code with its parts below it, which reads well on any page, or "grid", in rows
    and columns on pages in landscape.

    One row per code, each followed by the codes under it: label (and the code that it stands under),
    definition, when to use it, when not to, examples and counter-examples, origin and source. A part that the
    codebook leaves empty is printed as "–". `notes` adds lines to the foot.

    References
    ----------
    MacQueen, McLellan, Kay & Milstein (1998), Codebook development for team-based qualitative analysis,
    Cultural Anthropology Methods 10(2), 31–36: the parts of a code.

    Examples
    --------
    >>> table = codebook(Codebook.read("sense7"))
    >>> table.headers
    ('Code', 'Definition', 'Use when', 'Do not use when', 'Examples', 'Origin')
    >>> table.rows[3][0]
    'Prosocial Expression'
    """
    check_arguments(globals()["codebook"], locals())  # a parameter has its name
    rows = tuple(_codebook_row(code, codebook) for code, _ in codebook.tree)
    empty = [f"{MISSING} = not given in the codebook."] if any(MISSING in row for row in rows) else []
    facets = [_facet_note(facet, codebook) for facet in codebook.facets]
    source = [f"Source of the codebook: {codebook.source.rstrip('.')}."] if codebook.source else []
    return Table(
        title=f"Codebook – {_called(codebook)}",
        headers=("Code", "Definition", "Use when", "Do not use when", "Examples", "Origin"),
        rows=rows,
        notes=(*empty, *facets, *source, *_rule_sources(codebook), *notes, made_with(codebook)),
        layout=layout,
    )


def _called(codebook: Codebook) -> str:
    """Return what a codebook is called, as far as a caption holds it."""
    name = codebook.title or codebook.name
    return name if len(name) <= _CAPTION else f"{name[: _CAPTION - 1]}…"


def _codebook_row(code: Code, codebook: Codebook) -> tuple[str, ...]:
    label = f"{code.label}\n(under {codebook[code.parent].label})" if code.parent else code.label
    label += "" if code.codable else "\n(groups other codes; not applied itself)"
    examples = [*code.examples, *(f"Not: {example}" for example in code.counter_examples)]
    origin = "proposed by a model" if code.origin == "model" else code.origin
    cells = (code.definition, _listed(code.use_when), _listed(code.avoid_when), _listed(examples))
    return (label, *(cell or MISSING for cell in cells), f"{origin}\n{code.source}".strip())


def _facet_note(facet: Facet, codebook: Codebook) -> str:
    of = ", ".join(codebook[code].label for code in facet.codes)
    values = ", ".join(value.label for value in facet.values)
    return f"Facet of each coding{f' of {of}' if of else ''}: {facet.label} ({values})."


def _listed(entries: Sequence[str]) -> str:
    return entries[0] if len(entries) == 1 else "\n".join(f"• {entry}" for entry in entries)


def _rule_sources(codebook: Codebook) -> list[str]:
    """Return whose the rules and examples are, since they can be other people's than the definition."""
    groups: dict[str, list[str]] = {}
    for code in codebook.codes:
        if code.rules_source:
            groups.setdefault(code.rules_source, []).append(code.label)
    every = len(codebook.codes)
    return [
        f"Rules and examples: {source} ({'all codes' if len(labels) == every else ', '.join(labels)})."
        for source, labels in groups.items()
    ]
