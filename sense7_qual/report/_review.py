"""A study read as a reviewer reads it: what they will object to, with its numbers and what answers it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._present import count
from sense7_qual.report._notes import made_with
from sense7_qual.report._review_coders import ON_AGREEMENT, ON_CODERS, ON_OVERLAP
from sense7_qual.report._review_coding import ON_CODING
from sense7_qual.report._review_facts import Facts, Objection, Study, require_study
from sense7_qual.report._review_material import ON_MATERIAL
from sense7_qual.report._table import Table

__all__ = ["Review", "review"]


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer will object to in a study; its `repr` has counts only.

    Attributes
    ----------
    objections
        Tuple of objections, each with `kind` (a word), `seen` (what the record shows, with its numbers), `n`
        (how many), `why` a reviewer minds, and `answer`, what would meet it. Those on how the coding was done
        come first, then those on numbers.
    n_checked
        How many things were looked at.
    """

    objections: tuple[Objection, ...]
    n_checked: int
    codebook_line: str

    def __repr__(self) -> str:
        return f"Review({len(self.objections)} objections, {self.n_checked} things looked at)"

    def __iter__(self) -> Iterator[Objection]:
        return iter(self.objections)

    def __len__(self) -> int:
        return len(self.objections)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per objection: kind, seen, n, why, answer."""
        rows = [(one.kind, one.seen, one.n, one.why, one.answer) for one in self.objections]
        kinds = {"kind": "string", "seen": "string", "n": "Int64", "why": "string", "answer": "string"}
        return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)

    @property
    def table(self) -> Table:
        """The objections as a list that can be written, such as ``review.table.write("review.docx")``."""
        none = (("Nothing that was looked for was found.", "", ""),)
        rows = tuple((one.seen, one.why, one.answer) for one in self.objections)
        return Table(
            title="What a reviewer will object to",
            headers=("Seen", "Why it matters", "What answers it"),
            rows=rows or none,
            notes=(f"{count(self.n_checked)} things were looked at.", self.codebook_line),
            layout="list",
        )


def review(
    store: Study,
    *,
    with_agreement: bool = True,
    rating: str | None = None,
    cluster: str | None = None,
    n_boot: int = 500,
    seed: int = 0,
) -> Review:
    """Read a study as a reviewer does, and return what they will object to.

    It reads the record alone: who coded what when, under which codebook, blind to what. What the record does
    not hold, such as how participants were found, it cannot see; no objection means none of these.

    Parameters
    ----------
    store : Store
        The study, with all that it shows to who has it open. Nothing of participants' texts is returned.
    with_agreement : bool
        Whether agreement is part of the argument; without it (one coder, reflexive thematic analysis) nothing
        is asked of it.
    rating, cluster : str, optional
        The columns of the rating that codes are linked to, and of what its intervals take as independent; by
        default as was registered (`Store.preregister`), and "case_id". Where neither says that codes are
        linked, links are not looked at.
    n_boot, seed
        Of the intervals of agreement, as for `agreement.by_code`.

    Returns
    -------
    Review
        The objections, as values (`Review.objections`), as a DataFrame (`frame`) and as a `Table` (`table`).

    Raises
    ------
    ArgumentError
        `store` is no open study, or a setting of the resampling is out of its range.

    Notes
    -----
    Limits: double-coded at least 10 % of the texts, alpha at least .667 and .80 (O'Connor & Joffe 2020;
    Krippendorff 2004, p. 241); others are stated where they are used. Tests of what would be chance have a
    size of .001 each, over all that they compare in a study. In 50 simulated studies without a flaw
    there was no objection (`benchmarks/review.md`).

    References
    ----------
    O'Connor & Joffe (2020), Intercoder reliability in qualitative research, International Journal of
    Qualitative Methods 19. Krippendorff (2004), Content analysis, 2nd ed., Sage.

    Examples
    --------
    ``report.review(store).table``
    """
    check_arguments(review, locals(), but=("store",))
    check_least(review, 2, n_boot=n_boot)
    check_least(review, 0, seed=seed)
    require_study(store)
    facts = Facts(store, n_boot=n_boot, seed=seed, rating=rating, cluster=cluster)
    checks = (*ON_CODING, *ON_CODERS, *ON_MATERIAL, *((*ON_AGREEMENT, *ON_OVERLAP) if with_agreement else ()))
    objections = tuple(one for check in checks for one in check(facts))
    return Review(objections, len(checks), made_with(store.codebook))
