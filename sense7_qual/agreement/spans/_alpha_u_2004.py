"""Krippendorff's alpha_U of 1995 and 2004, which compares the borders of spans."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual.agreement.spans._values import Continuum, Lengths, continuum, warn_of_models

__all__ = ["alpha_u_2004", "border_alpha", "resampled_borders"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NAN: Final = float("nan")


def alpha_u_2004(spans: pd.DataFrame, lengths: Lengths, *, coverage: pd.DataFrame | None = None) -> float:
    """Return Krippendorff's alpha_U of 1995 and 2004, which compares the borders of spans.

    Use it to compare with older studies and with tools that report it. For new studies use
    `unitizing_alphas`: this one misbehaves with more than two coders, as its author found.

    Parameters
    ----------
    spans, lengths, coverage
        As for `unitizing_alphas`. Codes may overlap: each is compared by itself, and the disagreements are
        added up. Only texts that every coder finished count, laid end to end in the order of `lengths`.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning that says why, where no text was finished by every coder
        or nothing is coded.

    Raises
    ------
    TableError
        As for `unitizing_alphas`.

    Notes
    -----
    Two figures of the example in Krippendorff (1995, p. 57) differ: in finely cut continua its category C has
    .679 there and .693 here. The paper's expected disagreement of C, .08642, also pairs spans with
    themselves, unlike its other categories and the book of 2004. Its category B counts gaps one place longer.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methodology (2nd ed.), pp. 251–256.

    Examples
    --------
    Page 254 of the book, code *c*, published with .0144 observed, .0532 expected disagreement:

    >>> c = pd.DataFrame(
    ...     [["t", "i", "c", 75, 145], ["t", "i", "c", 220, 250], ["t", "j", "c", 70, 150],
    ...      ["t", "j", "c", 205, 225], ["t", "j", "c", 250, 270]],
    ...     columns=["unit_id", "coder", "code", "start", "end"])
    >>> round(alpha_u_2004(c, {"t": 300}), 4)
    0.7286
    """
    check_arguments(alpha_u_2004, locals())
    warn_of_models(spans, coverage, function="alpha_u_2004")
    line = continuum(spans, lengths, coverage, by_all=True)
    alpha, reason = border_alpha(line, range(len(line.codes)))
    if reason:
        warnings.warn(f"alpha_u_2004 is not defined here (NaN): {reason}.", RuntimeWarning, stacklevel=2)
    return alpha


def border_alpha(line: Continuum, codes: Iterable[int]) -> tuple[float, Reason | None]:
    """Return the alpha_U of 2004 over the given codes, or NaN and the reason code.

    `line` holds texts that every coder finished. Observed and expected disagreement are summed over codes.
    """
    if not line.finished.shape[1]:
        return _NAN, Reason.NO_PAIRABLE_UNITS
    length, by_code = int(line.edges[-1]), [_spans_of(line, code) for code in codes]
    observed = sum(_observed_borders(spans, length) for spans in by_code)
    expected = sum(_expected_borders(spans, length) for spans in by_code)
    return (1 - observed / expected, None) if expected > 0 else (_NAN, Reason.NO_VARIATION)


def resampled_borders(line: Continuum, code: int, times: Integers) -> Floats:
    """Return the alpha_U of 2004 of a code (B,) where each text stands `times` (B, T) over, NaN without one.

    The texts are laid end to end in their order, a repeated one after itself.
    """
    n_texts = line.finished.shape[1]
    long = np.bincount(line.text, line.width, minlength=n_texts).astype(np.int64)
    begin = np.cumsum(long) - long
    spans = _spans_of(line, code)
    coders = [_Placed.of(one, begin) for one in spans]
    observed = sum(coder.by_text(each) for coder, each in zip(coders, _apart_from_others(spans), strict=True))
    length = times @ long
    scale = len(spans) * (len(spans) - 1) * np.square(length.astype(np.float64))
    expected = np.empty(len(times))
    for row, often in enumerate(times):
        order = np.repeat(np.arange(n_texts), often)
        shift = np.cumsum(long[order]) - long[order]
        laid_out = [coder.laid_out(order, shift) for coder in coders]
        expected[row] = _expected_borders(laid_out, int(length[row]))
    out = np.full(len(times), np.nan)
    return np.asarray(1 - np.divide(times @ observed / scale, expected, out=out, where=expected > 0))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A coder's spans of a code from the start of their text (n, 2), its number (n,), and how many it has."""

    within: Floats
    text: Integers
    number: Integers

    @classmethod
    def of(cls, spans: Floats, begin: Integers) -> _Placed:
        text = np.searchsorted(begin, spans[:, 0], side="right") - 1
        return cls(spans - begin[text][:, None], text, np.bincount(text, minlength=len(begin)))

    def by_text(self, values: Floats) -> Floats:
        """Sum values of the spans (n,) by text (T,)."""
        return np.bincount(self.text, values, minlength=len(self.number)).astype(np.float64)

    def laid_out(self, order: Integers, shift: Integers) -> Floats:
        """Return the spans of the texts in `order`, which begin at `shift`."""
        number = self.number[order]
        first = (np.cumsum(self.number) - self.number)[order] - (np.cumsum(number) - number)
        places = np.arange(number.sum()) + np.repeat(first, number)
        return np.asarray(self.within[places] + np.repeat(shift, number)[:, None], dtype=np.float64)


def _spans_of(line: Continuum, code: int) -> list[Floats]:
    """Return start and end of each coder's spans of a code (n, 2), in the order of the text."""
    by_coder = []
    for coder in range(len(line.coders)):
        here = (line.of_coder == coder) & (line.of_code == code)
        spans = np.stack([line.edges[line.first[here]], line.edges[line.last[here]]], axis=1)
        by_coder.append(spans[np.argsort(spans[:, 0])].astype(np.float64))
    return by_coder


def _observed_borders(spans: Sequence[Floats], length: int) -> float:
    """Return the mean over ordered pairs of coders of squared distances of borders (2004, p. 252)."""
    total = sum(float(each.sum()) for each in _apart_from_others(spans))
    return total / (len(spans) * (len(spans) - 1) * length**2)


def _apart_from_others(spans: Sequence[Floats]) -> list[Floats]:
    """Return, for each coder's spans (n,), the disagreement with the other coders."""
    every = range(len(spans))
    return [
        np.sum([_apart(spans[i], spans[j]) for j in every if j != i], axis=0, dtype=np.float64) for i in every
    ]


def _apart(a: Floats, b: Floats) -> Floats:
    """Return the disagreement of one coder's spans (n,) with another's: half of that of overlapping spans,
    both borders squared, and the squared lengths of spans of `a` that lie where `b` left all uncoded.

    Summed over both orders of two coders, each overlap counts twice, as does each span in a gap: once as the
    span against the gap, and once as the gap against the span.
    """
    first = np.searchsorted(b[:, 1], a[:, 0], side="right")
    number = np.maximum(np.searchsorted(b[:, 0], a[:, 1], side="left") - first, 0)
    alone = 2 * np.square(a[:, 1] - a[:, 0]) * (number == 0)
    mine = np.repeat(np.arange(len(a)), number)
    theirs = np.arange(len(mine)) - np.repeat(np.cumsum(number) - number, number) + np.repeat(first, number)
    apart = np.bincount(mine, np.square(a[mine] - b[theirs]).sum(axis=1), minlength=len(a))
    return np.asarray(alone + apart, dtype=np.float64)


def _expected_borders(spans: Sequence[Floats], length: int) -> float:
    """Return the disagreement of spans that are placed at random (2004, p. 253)."""
    long = np.concatenate([ends - starts for starts, ends in (s.T for s in spans)])
    gaps = np.sort(np.concatenate([_gaps(one, length) for one in spans]))
    # For each span the gaps that it fits into: how many, and how long they are together.
    fits = np.searchsorted(gaps, long, side="left")
    together = np.concatenate([[0.0], np.cumsum(gaps)])
    room = (together[-1] - together[fits]) - (len(gaps) - fits) * (long - 1)
    over = (len(long) - 1) / 3 * (2 * long**3 - 3 * long**2 + long)
    pairs = len(spans) * length * (len(spans) * length - 1) - (long * (long - 1)).sum()
    return float(2 / length * (over + long**2 * room).sum() / pairs) if pairs > 0 else 0.0


def _gaps(spans: Floats, length: int) -> Floats:
    borders = np.concatenate([[0.0], spans.ravel(), [float(length)]])
    gaps = borders[1::2] - borders[::2]
    return np.asarray(gaps[gaps > 0])
