"""Tables of the codebook: its codes, and how they were revised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._present import MISSING
from sense7_qual.codebook import Change, Code, Codebook, Facet, Revision
from sense7_qual.errors import CodebookError
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Layout, Table

__all__ = ["codebook", "revision"]

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


_KINDS: Final = {
    "add": "added", "rename": "renamed", "move": "moved", "annotate": "annotated", "redefine": "redefined",
    "merge": "merged into", "split": "split into", "retire": "retired",
}  # fmt: skip
_FINGERPRINT: Final = 8  # letters that tell versions apart


def revision(
    revisions: Sequence[Revision], *, codebooks: Mapping[str, Codebook], notes: Sequence[str] = ()
) -> Table:
    """Return how the codebook evolved: for each revision when, who, which codes changed how, and why.

    One row per revision in their order: number, date, who decided, the changes, the reason, and the number of
    codes that could be applied from then on. The first row is the version that coding began with.

    Parameters
    ----------
    revisions : sequence of Revision
        In their order, as ``store.revisions`` returns them.
    codebooks : mapping of str to Codebook
        Every version by its fingerprint: ``store.codebooks``.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    CodebookError
        A version that a revision names is not among `codebooks`, or there is neither a revision nor exactly
        one version.

    Examples
    --------
    >>> from sense7_qual.codebook import Code
    >>> from sense7_qual.codebook import changes
    >>> old = Codebook(name="b", codes=(Code(id="warm", label="Warm"),))
    >>> new = Codebook(name="b", codes=(Code(id="warm", label="Warmth"), Code(id="hope", label="Hope")))
    >>> step = Revision(coder="lead", at="2026-02-03T14:05:00Z", why="seen in texts", base=old.fingerprint,
    ...                 codebook=new.fingerprint, changes=changes(old, new))
    >>> table = revision([step], codebooks={one.fingerprint: one for one in (old, new)})
    >>> table.rows[1][1:4]
    ('2026-02-03', 'lead', '• Hope: added\\n• Warm: renamed Warmth')
    """
    check_arguments(revision, locals())
    first, last = _ends(revisions, codebooks)
    steps = [_revision_row(number, step, codebooks) for number, step in enumerate(revisions, start=2)]
    return Table(
        title="How the codebook changed",
        headers=("Version", "Date", "By", "Changes", "Reason", "Codes"),
        rows=(("1", *[_present.MISSING] * 2, "as coding began", _present.MISSING, _n_codes(first)), *steps),
        notes=(
            "Codes = codes that can be applied. Annotated = other examples, keys or sources, the meaning as "
            "before. What was coded before a code was redefined, or split where it was applied, is reviewed.",
            f"Version 1: fingerprint {first.fingerprint}.",
            *notes,
            made_with(last),
        ),
        alignments=("right", "left", "left", "left", "left", "right"),
    )


def _ends(revisions: Sequence[Revision], codebooks: Mapping[str, Codebook]) -> tuple[Codebook, Codebook]:
    """Return the first and the last version, or refuse versions that are not there."""
    named = [version for step in revisions for version in (step.base, step.codebook)] or list(codebooks)
    unknown = [version for version in named if version not in codebooks]
    if unknown or not named or (not len(revisions) and len(codebooks) != 1):
        what = f"none of {unknown[0][:12]}…" if unknown else f"{len(codebooks)} versions without a revision"
        raise CodebookError(
            f"revision: expected every version of the codebook by fingerprint – found {what} – pass "
            "store.revisions and codebooks=store.codebooks."
        )
    return codebooks[named[0]], codebooks[named[-1]]


def _revision_row(number: int, step: Revision, codebooks: Mapping[str, Codebook]) -> tuple[str, ...]:
    old, new = codebooks[step.base], codebooks[step.codebook]
    lines = [f"• {_change(one, old, new)}" for one in step.changes]
    changed = "\n".join(lines) or "the codebook's own title, source or facets"
    return str(number), step.at[:10], step.coder, changed, step.why, _n_codes(new)


def _change(change: Change, old: Codebook, new: Codebook) -> str:
    into = ", ".join(_label(code, new, old) for code in change.into)
    if change.kind == "rename":
        into = _label(change.code, new, old)
    if change.kind == "move":
        parent = new[change.code].parent
        into = f"under {_label(parent, new, old)}" if parent else "to the top"
    return f"{_label(change.code, old, new)}: {_KINDS[change.kind]} {into}".rstrip()


def _label(code: str, *books: Codebook) -> str:
    return next((book[code].label for book in books if code in book), code)


def _n_codes(codebook: Codebook) -> str:
    return _present.count(len(codebook.codable))
