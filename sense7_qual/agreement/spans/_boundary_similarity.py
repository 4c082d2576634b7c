"""Agreement on segmentation: where one segment of a text ends and the next begins.

A segmentation has boundaries between parts (turns, sentences, paragraphs), but no codes and no gaps. Boundary
edit distance counts the edits that turn one coder's boundaries into another's. A boundary that only one of
them has is a full miss; two boundaries close to each other, one from each coder, are a near miss and cost
less. Where segments are coded too, or do not fill the text, see `unitizing_alphas`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._contract import Column, Contract
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual.agreement.spans._values import (
    Lengths,
    finished_by,
    require_lengths,
    text_lengths,
    warn_of_models,
)
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import people

Integers = npt.NDArray[np.int64]

_NAN: Final = float("nan")

_BOUNDARIES: Final = Contract(
    "boundaries",
    ("unit_id", "coder", "position"),
    {"unit_id, coder": Column("id"), "position": Column("integer")},
)


@dataclass(frozen=True, slots=True)
class SegmentationAgreement:
    """The agreement of coders on the boundaries between the segments of texts.

    Attributes
    ----------
    boundary_similarity : float
        Over all pairs of coders and all texts, 0–1; 1 where nobody placed a boundary.
    kappa, pi : float
        The same corrected for chance: the probability that two coders place a boundary at the same place,
        from each coder's own share of places with a boundary (kappa), or from the mean share (pi). At most 1;
        0 is chance.
    n_units, n_coders : int
        Texts of two or more parts that two or more coders finished, and these coders.
    n_boundaries : int
        The boundaries that they placed there.
    n_matches, n_near_misses, n_full_misses : int
        Over all pairs of coders: boundaries that both placed, pairs of boundaries that are a near miss, and
        boundaries that only one of the two placed.
    n_t : int
        As given.
    reason : str or None
        Why a number is NaN: `no_pairable_units`; of kappa and pi `no_variation` (all coders placed no
        boundary, or every possible one).
    """

    boundary_similarity: float
    kappa: float
    pi: float
    n_units: int
    n_coders: int
    n_boundaries: int
    n_matches: int
    n_near_misses: int
    n_full_misses: int
    n_t: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class _Edits:
    """What two coders' boundaries have in common, and what turns one into the other."""

    matches: int = 0
    near: int = 0
    full: int = 0
    cost: float = 0.0

    def __add__(self, other: _Edits) -> _Edits:
        return _Edits(
            self.matches + other.matches,
            self.near + other.near,
            self.full + other.full,
            self.cost + other.cost,
        )

    @property
    def similarity(self) -> float:
        compared = self.matches + self.near + self.full
        return 1 - self.cost / compared if compared else 1.0


def boundary_similarity(segments_a: Sequence[int], segments_b: Sequence[int], *, n_t: int = 2) -> float:
    """Return the boundary similarity B of two segmentations of one text: 1 − edits / boundaries compared.

    Use it to describe the similarity of two segmentations; near misses count in part. It is not corrected for
    chance; for several coders and texts, and for kappa and pi, use `segmentation_agreement`.

    Parameters
    ----------
    segments_a, segments_b : sequence of int
        The length of each segment, in the order of the text: its number of parts (turns, sentences …), 1 or
        more. Both have the same sum.
    n_t : int
        A near miss is two boundaries fewer than `n_t` places apart: 2 in the paper; 1 for none.

    Returns
    -------
    float
        0 to 1; the order of the two does not matter. A match costs nothing, a full miss 1, and a near miss
        over d places d / n_t. 1 where neither has a boundary.

    Raises
    ------
    TableError
        A length is not a whole number from 1, or the segmentations are not of one text.
    ArgumentError
        `n_t` is not a whole number from 1.

    Notes
    -----
    There is one kind of boundary. Near misses are found as in the paper's program: the nearest first, from
    the start of the text, each boundary in at most one near miss.

    References
    ----------
    Fournier (2013), Evaluating text segmentation using boundary edit distance, ACL 2013, 1702–1712.

    Examples
    --------
    One boundary is shared, another is a place away (segeval 2.0.11, published in its tests):

    >>> boundary_similarity([2, 3, 6], [2, 2, 7])
    0.75
    """
    check_arguments(boundary_similarity, locals())
    _check_n_t("boundary_similarity", n_t)
    lengths_a, lengths_b = _segments(segments_a, "segments_a"), _segments(segments_b, "segments_b")
    if lengths_a.sum() != lengths_b.sum():
        raise TableError(
            "boundary_similarity: expected two segmentations of one text – found segments of "
            f"{lengths_a.sum()} and of {lengths_b.sum()} parts in all – give every part to one segment."
        )
    ends_a, ends_b = (np.cumsum(lengths)[:-1].tolist() for lengths in (lengths_a, lengths_b))
    return _edits(set(ends_a), set(ends_b), n_t).similarity


def segmentation_agreement(
    boundaries: pd.DataFrame, lengths: Lengths, *, coverage: pd.DataFrame | None = None, n_t: int = 2
) -> SegmentationAgreement:
    """Return the agreement of several coders on segment boundaries: B, and Fleiss' kappa and pi based on it.

    Use it for texts cut into segments without gaps: episodes of a conversation, topics. Do not use it for
    spans that leave text out (`unitizing_alphas`). A place where neither placed a boundary does not count as
    agreement, so kappa is close to B where boundaries are few.

    Parameters
    ----------
    boundaries : DataFrame
        One row per boundary: unit_id, coder, position: the number of parts of the text before it, from 1 to
        the text's length − 1.
    lengths : Series or mapping
        unit_id to the text's number of parts (turns, sentences …).
    coverage : DataFrame, optional
        unit_id, coder: the finished texts. A coder who finished a text without a boundary has left it one
        segment, which counts; a text that a coder has not finished is missing there. Without it, every coder
        in `boundaries` counts as having finished every text in `lengths`. Models are left out of both frames.
    n_t : int
        As for `boundary_similarity`.

    Returns
    -------
    SegmentationAgreement
        NaN where a number cannot be computed, with the reason.

    Raises
    ------
    TableError
        `boundaries` or `coverage` breaks its contract, a length is missing or not a whole number, or a
        boundary is outside its text.
    ArgumentError
        `n_t` is not a whole number from 1.

    Notes
    -----
    Edits and boundaries are summed over all pairs of coders and all texts that both finished, so texts with
    more boundaries have more weight. Expected agreement is, for kappa, the mean over pairs of coders of
    the product of their shares of places with a boundary, each over all texts; for pi the square of the mean
    share over coders and texts.

    References
    ----------
    Fournier & Inkpen (2012), Segmentation similarity and agreement, NAACL 2012, 152–161, and Fournier (2013),
    ACL 2013, 1702–1712. The example is chapter 1 of Kazantseva & Szpakowicz (2012), group 5, in the tests of
    segeval 2.0.11: B .25, kappa .2258, pi .2227.

    Examples
    --------
    >>> segments = {"an1": [11, 2], "an2": [2, 1, 7, 2, 1], "an3": [9, 4], "an4": [2, 8, 2, 1]}
    >>> boundaries = pd.DataFrame(
    ...     [("ch1", coder, end) for coder, parts in segments.items() for end in np.cumsum(parts)[:-1]],
    ...     columns=["unit_id", "coder", "position"])
    >>> found = segmentation_agreement(boundaries, {"ch1": 13})
    >>> found.boundary_similarity, round(found.kappa, 4), round(found.pi, 4)
    (0.25, 0.2258, 0.2227)
    """
    check_arguments(segmentation_agreement, locals())
    _check_n_t("segmentation_agreement", n_t)
    warn_of_models(boundaries, coverage, function="segmentation_agreement")
    size = text_lengths(lengths)
    rows = _placed(people(_BOUNDARIES.check(boundaries)), size)
    finished = finished_by(rows, size, coverage)
    counts = (finished.sum(axis=0) >= 2).to_numpy(dtype=np.bool_) & (size > 1).to_numpy(dtype=np.bool_)
    finished = finished.loc[finished.loc[:, counts].any(axis=1), counts]
    given = rows.groupby(["unit_id", "coder"])["position"].agg(set).to_dict()
    texts = {
        unit: {coder: given.get((unit, coder), set()) for coder in finished.index[finished[unit]]}
        for unit in finished.columns
    }
    shares = _shares(texts, size)
    edits, kappa, pi = _edits_of(texts, n_t), _NAN, _NAN
    if len(texts):
        kappa = _beyond(edits.similarity, _expected_kappa(texts, size))
        pi = _beyond(edits.similarity, float(np.mean(shares)) ** 2)
    same = len(texts) > 0 and (max(shares) == 0 or min(shares) == 1)
    return SegmentationAgreement(
        boundary_similarity=edits.similarity if len(texts) else _NAN,
        kappa=_NAN if same else kappa,
        pi=_NAN if same else pi,
        n_units=len(texts),
        n_coders=len(finished),
        n_boundaries=sum(len(ends) for coders in texts.values() for ends in coders.values()),
        n_matches=edits.matches,
        n_near_misses=edits.near,
        n_full_misses=edits.full,
        n_t=int(n_t),
        reason=Reason.NO_VARIATION if same else None if len(texts) else Reason.NO_PAIRABLE_UNITS,
    )


Texts = dict[str, dict[str, set[int]]]


def _edits(ends_a: set[int], ends_b: set[int], n_t: int) -> _Edits:
    """Return the edits between two sets of boundaries (Fournier 2013, section 4)."""
    only_a, only_b = ends_a - ends_b, ends_b - ends_a
    near, cost = 0, 0.0
    for apart in range(1, n_t):
        for here in sorted(only_a | only_b):
            for one, other in ((only_a, only_b), (only_b, only_a)):
                if here in one and here + apart in other:
                    one.remove(here)
                    other.remove(here + apart)
                    near, cost = near + 1, cost + apart / n_t
    full = len(only_a) + len(only_b)
    return _Edits(len(ends_a & ends_b), near, full, cost + full)


def _edits_of(texts: Texts, n_t: int) -> _Edits:
    pairs = (pair for coders in texts.values() for pair in itertools.combinations(coders.values(), 2))
    return sum((_edits(a, b, n_t) for a, b in pairs), start=_Edits())


def _shares(texts: Texts, size: pd.Series) -> list[float]:
    """Return, for each text and coder, the share of its places that have a boundary."""
    return [len(ends) / (size[unit] - 1) for unit, coders in texts.items() for ends in coders.values()]


def _expected_kappa(texts: Texts, size: pd.Series) -> float:
    """Return the mean over pairs of coders with a text in common of the product of their shares."""
    placed: dict[str, int] = {}
    places: dict[str, int] = {}
    pairs = set()
    for unit, coders in texts.items():
        for coder, ends in coders.items():
            placed[coder] = placed.get(coder, 0) + len(ends)
            places[coder] = places.get(coder, 0) + int(size[unit]) - 1
        pairs |= set(itertools.combinations(sorted(coders), 2))
    share = {coder: placed[coder] / places[coder] for coder in placed}
    return float(np.mean([share[a] * share[b] for a, b in pairs]))


def _beyond(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else _NAN


def _placed(rows: pd.DataFrame, size: pd.Series) -> pd.DataFrame:
    """Return the boundaries, or refuse those outside their text."""
    require_lengths(rows, size, frame_name="boundaries")
    last = size.reindex(rows["unit_id"]).to_numpy(dtype=np.int64) - 1
    position = rows["position"].to_numpy(dtype=np.int64)
    wrong = (position < 1) | (position > last)
    if wrong.any():
        raise TableError(
            "boundaries: expected positions from 1 to the text's length − 1 – found others on units "
            f"{first_three(rows.loc[wrong, 'unit_id'].unique())} – a text's start and end are not boundaries."
        )
    return rows


def _segments(segments: Sequence[int], name: str) -> Integers:
    wrong = [place for place, length in enumerate(segments) if not _is_whole(length)]
    if wrong or not len(segments):
        raise TableError(
            f"boundary_similarity: expected {name} to be the segments' lengths, whole numbers from 1 – found "
            + (f"others at places {first_three(wrong)} (counted from 0)" if wrong else "none")
            + " – count the parts of each segment."
        )
    return np.asarray(segments, dtype=np.int64)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def _check_n_t(function: str, n_t: int) -> None:
    if not _is_whole(n_t):
        raise ArgumentError(
            f"{function}: expected n_t to be a whole number from 1 – found {n_t!r} – 2 is usual, 1 allows "
            "no near misses."
        )
