"""How the codebook came to be, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.codebook import Change, Codebook, Revision
from sense7_qual.errors import CodebookError
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Table

__all__ = ["revision"]

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
