"""Krippendorff's alphas for unitizing: the family of 2016 compares lengths, alpha_U of 2004 borders."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual.agreement.spans._values import Continuum, Lengths, continuum, covered, warn_of_models

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_NAN: Final = float("nan")
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class UnitizingAlphas:
    """Krippendorff's unitizing alphas (2016) of one set of coded texts.

    Attributes
    ----------
    u_alpha : float
        All text, every code and the uncoded stretches: the same text marked with the same code.
    binary_u_alpha : float
        All text, coded or not, whatever the code (written ``|u-alpha``).
    cu_alpha : float
        Coded text only: the same code for what two coders both coded.
    ku_alpha : mapping of code to float
        The same for each code against the others, written (k)u-alpha.
    coded_share : float
        The share of the text that cu-alpha uses, over all pairs of coders, 0–1.
    n_units, n_coders, n_spans, n_characters : int
        Texts that two or more coders finished, their coders, spans and characters (each text once).
    reason : str or None
        Why a number is NaN: `no_pairable_units`, `no_variation` (nothing is coded, or all is, with one code),
        `overlapping_codes` (a coder gave a stretch two codes: the values must exclude each other, so only
        `ku_alpha` exists); and of cu-alpha `not_coded_by_two`, `one_code`, `too_few_spans` (no span that
        another could meet by chance).
    """

    u_alpha: float
    binary_u_alpha: float
    cu_alpha: float
    ku_alpha: Mapping[str, float]
    coded_share: float
    n_units: int
    n_coders: int
    n_spans: int
    n_characters: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums of lengths, over texts or for each text (…), by code (…, V); pairs count by coders − 1."""

    total: Floats  # text × coders
    length: Floats  # text × coders with the code
    both: Floats  # … that the other coders gave the code too
    squares: Floats  # squared lengths of the code's spans
    gap: Floats  # text × coders without a code
    gap_both: Floats
    coded: Floats  # text with the code that the other coders gave some code
    coded_total: Floats  # text with some code that the other coders gave some code
    coded_squares: Floats  # squared lengths of those parts of the spans
    overlapping: bool


def unitizing_alphas(
    spans: pd.DataFrame, lengths: Lengths, *, coverage: pd.DataFrame | None = None
) -> UnitizingAlphas:
    """Return Krippendorff's u-alpha, ``|u-alpha``, cu-alpha and (k)u-alphas of coded spans.

    Use them where coders choose both the stretches and their codes. Report u-alpha or ``|u-alpha`` for the
    agreement on where spans are, and cu-alpha for that on their codes; with a high cu-alpha and a low u-alpha
    coders agree only on what both of them marked. If codes may overlap in a text, use `span_agreement`, which
    compares each code by itself.

    Parameters
    ----------
    spans : DataFrame
        unit_id, coder, code, start, end: half-open code points; both missing is the whole text. Overlapping
        spans of one code by one coder are joined; adjoining ones are two.
    lengths : Series or mapping
        unit_id to the text's number of code points.
    coverage : DataFrame, optional
        unit_id, coder: the finished texts. A coder who finished a text without spans has left it uncoded,
        which counts; a text that a coder has not finished is missing there. Without it, every coder in
        `spans` counts as having finished every text in `lengths`.

    Returns
    -------
    UnitizingAlphas
        Each alpha at most 1; 0 is chance; NaN where it cannot be computed, with the reason.

    Raises
    ------
    TableError
        `spans` or `coverage` breaks its contract, a length is missing or not a whole number, or a span does
        not lie within its text.

    Notes
    -----
    Texts are laid end to end; no span reaches from one into the next, and the order of the texts does not
    matter. Where coders differ between texts, each text counts with its own number of coders, as units with
    missing values do in the alpha for coding.

    In the expected coincidences of cu-alpha and (k)u-alpha a span is not paired with itself: for each other
    coder, the square of its part that this coder coded too is taken out, divided by coders − 1. Programs
    differ here for three or more coders with partly overlapping spans; for two coders they do not.

    References
    ----------
    Krippendorff, Mathet, Bouvry & Widlöcher (2016), On the reliability of unitizing textual continua: Further
    developments, Quality & Quantity 50, 2347–2364, equations 4–13.

    Examples
    --------
    >>> spans = pd.DataFrame(
    ...     [["t", "c1", "k", 3, 15], ["t", "c1", "k", 22, 53], ["t", "c2", "k", 3, 10],
    ...      ["t", "c2", "k", 22, 53], ["t", "c3", "k", 22, 46]],
    ...     columns=["unit_id", "coder", "code", "start", "end"])
    >>> round(unitizing_alphas(spans, {"t": 56}).u_alpha, 4)
    0.5645
    """
    check_arguments(unitizing_alphas, locals())
    warn_of_models(spans, coverage, function="unitizing_alphas")
    line = continuum(spans, lengths, coverage)
    sums = over_texts(by_text(line))
    u_alpha, binary, cu_alpha, reason = _whole(sums)
    shared = sums.coded_total / sums.total if sums.total else _NAN
    return UnitizingAlphas(
        u_alpha=u_alpha,
        binary_u_alpha=binary,
        cu_alpha=cu_alpha,
        ku_alpha=MappingProxyType({code: coded_text(sums, k)[0] for k, code in enumerate(line.codes)}),
        coded_share=float(shared),
        n_units=line.finished.shape[1],
        n_coders=int(line.finished.any(axis=1).sum()),
        n_spans=len(line.first),
        n_characters=int(line.edges[-1]),
        reason=reason,
    )


def over_texts(each: Tally) -> Tally:
    """Add up what each text adds."""
    sums = {f.name: getattr(each, f.name).sum(axis=0) for f in fields(Tally) if f.name != "overlapping"}
    return Tally(**sums, overlapping=each.overlapping)


def by_text(line: Continuum) -> Tally:
    """Add up, text by text (T,), what the coders coded alike."""
    n_texts, n_codes = line.finished.shape[1], len(line.codes)
    width = line.width.astype(np.float64)
    coders = line.finished.sum(axis=0)[line.text].astype(np.float64)
    others = coders - 1
    anything = covered(line, np.ones(len(line.first), dtype=np.bool_))
    n_any = anything.sum(axis=0)
    gap = coders - n_any

    def summed(count: npt.NDArray[np.float64 | np.int64]) -> Floats:
        return np.bincount(line.text, width * count, minlength=n_texts).astype(np.float64)

    length, both, coded = (np.zeros((n_texts, n_codes)) for _ in range(3))
    given = np.zeros(anything.shape, dtype=np.int64)
    for code in range(n_codes):
        here = covered(line, line.of_code == code)
        given += here
        n = here.sum(axis=0)
        length[:, code] = summed(n)
        both[:, code] = summed(n * (n - 1) / others)
        coded[:, code] = summed(n * (n_any - 1) / others)
    return Tally(
        total=summed(coders),
        length=length,
        both=both,
        squares=_by_code(line, line.length.astype(np.float64) ** 2),
        gap=summed(gap),
        gap_both=summed(gap * (gap - 1) / others),
        coded=coded,
        coded_total=summed(n_any * (n_any - 1) / others),
        coded_squares=_coded_squares(line, anything, width),
        overlapping=bool((given > 1).any()),
    )


def _by_code(line: Continuum, values: Floats) -> Floats:
    """Sum values of spans by text and code (T, V)."""
    shape = line.finished.shape[1], len(line.codes)
    place = line.of_text * shape[1] + line.of_code
    return np.bincount(place, values, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)


def _coded_squares(line: Continuum, anything: Truths, width: Floats) -> Floats:
    """Return the squared lengths of the spans' parts that another coder coded too, by text and code."""
    total = np.zeros((line.finished.shape[1], len(line.codes)))
    others = line.finished.sum(axis=0)[line.of_text] - 1
    for coder in range(len(line.coders)):
        so_far = np.concatenate([[0.0], np.cumsum(width * anything[coder])])
        counts = (line.of_coder != coder) & line.finished[coder, line.of_text]
        part = (so_far[line.last] - so_far[line.first]) * counts
        total += _by_code(line, part**2 / others)
    return total


def _whole(sums: Tally) -> tuple[float, float, float, Reason | None]:
    """Return u-alpha, |u-alpha and cu-alpha over all codes, and why one of them is NaN."""
    if not sums.total:
        return _NAN, _NAN, _NAN, Reason.NO_PAIRABLE_UNITS
    if sums.overlapping:
        return _NAN, _NAN, _NAN, Reason.OVERLAPPING_CODES
    lengths = np.append(sums.length, sums.gap)
    unequal = sums.total**2 - np.square(lengths).sum()
    scale = sums.total / (sums.total**2 - sums.squares.sum() - sums.gap)
    u_alpha = float(_ratio(sums.total - sums.both.sum() - sums.gap_both, unequal * scale))
    binary = float(_ratio(2 * (sums.gap - sums.gap_both), 2 * sums.gap * sums.length.sum() * scale))
    cu_alpha, reason = _cu_alpha(sums)
    return u_alpha, binary, cu_alpha, Reason.NO_VARIATION if np.isnan(u_alpha) else reason


def _cu_alpha(sums: Tally) -> tuple[float, Reason | None]:
    """Return cu-alpha, or NaN and the reason code; see `coded_text` for the reasons."""
    coded = sums.coded_total
    if not coded:
        return _NAN, Reason.NOT_CODED_BY_TWO
    unequal = coded**2 - np.square(sums.coded).sum()
    if unequal <= _ROUNDING * coded**2:
        return _NAN, Reason.ONE_CODE
    drawn = coded**2 - sums.coded_squares.sum()
    if drawn <= _ROUNDING * coded**2:
        return _NAN, Reason.TOO_FEW_SPANS
    return float(_ratio(coded - sums.both.sum(), unequal * coded / drawn)), None


def all_text(sums: Tally, k: int) -> tuple[float, Reason | None]:
    """Return u-alpha of one code against everything else, or NaN and the reason code."""
    if not sums.total:
        return _NAN, Reason.NO_PAIRABLE_UNITS
    alpha = float(all_text_alpha(all_text_parts(sums, k)))
    return alpha, Reason.NO_VARIATION if np.isnan(alpha) else None


def all_text_parts(sums: Tally, k: int) -> Floats:
    """Return the sums that give u-alpha of a code (…, 4), over all texts or for each."""
    return np.stack([sums.total, sums.length[..., k], sums.both[..., k], sums.squares[..., k]], axis=-1)


def all_text_alpha(parts: Floats) -> Floats:
    """Return u-alpha of one code (…) from sums of its parts (…, 4), NaN where it does not exist."""
    total, length, both, squares = np.moveaxis(parts, -1, 0)
    rest = total - length
    drawn = np.square(total) - squares - rest
    return _ratio((length - both) * drawn, length * rest * total)


def coded_text(sums: Tally, k: int) -> tuple[float, Reason | None]:
    """Return (k)u-alpha, or NaN and the reason code."""
    if not sums.total:
        return _NAN, Reason.NO_PAIRABLE_UNITS
    if sums.coded[k] <= 0:
        return _NAN, Reason.NOT_CODED_BY_TWO
    if sums.coded[k] >= sums.coded_total * (1 - _ROUNDING):
        return _NAN, Reason.ONE_CODE
    alpha = float(coded_text_alpha(coded_text_parts(sums, k)))
    return alpha, Reason.TOO_FEW_SPANS if np.isnan(alpha) else None


def coded_text_parts(sums: Tally, k: int) -> Floats:
    """Return the sums that give (k)u-alpha (…, 6), over all texts or for each."""
    of_code = [sums.coded[..., k], sums.both[..., k], sums.coded_squares[..., k]]
    of_all = [sums.coded_total, sums.coded.sum(axis=-1), sums.coded_squares.sum(axis=-1)]
    return np.stack(of_code + of_all, axis=-1)


def coded_text_alpha(parts: Floats) -> Floats:
    """Return (k)u-alpha (…) from sums of its parts (…, 6), NaN where it does not exist.

    The scale of the expected coincidences drops out of it.
    """
    coded, both, squares, total, coded_all, squares_all = np.moveaxis(parts, -1, 0)
    # What other spans than the one at hand could meet by chance; nothing, where there are but a few.
    drawn, of_all = coded * total - squares, total * coded_all - squares_all
    exists = (coded < total * (1 - _ROUNDING)) & (np.minimum(drawn, of_all) > _ROUNDING * np.square(total))
    return _ratio((coded - both) * drawn, np.where(exists, np.square(coded) * (total - coded), 0.0))


def _ratio(observed: Floats, expected: Floats) -> Floats:
    """Return 1 − observed / expected, NaN where nothing is expected."""
    out = np.full(np.shape(expected), np.nan)
    return np.asarray(1 - np.divide(observed, expected, out=out, where=np.asarray(expected) > 0))


def alpha_u_2004(spans: pd.DataFrame, lengths: Lengths, *, coverage: pd.DataFrame | None = None) -> float:
    """Return Krippendorff's alpha_U of 1995 and 2004, which compares the borders of spans.

    Use it to compare with older studies and with tools that report it. For new studies use
    `unitizing_alphas`: this one fails with more than two coders, as its author found.

    Parameters
    ----------
    spans, lengths, coverage
        As for `unitizing_alphas`. Codes may overlap: each is compared by itself, and the disagreements are
        added up. Only texts that every coder finished count, laid end to end in the order of `lengths`.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no text was finished by every coder or nothing is
        coded.

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
    """Return the alpha_U of 2004 of a code (B,) where each text is repeated `times` (B, T), NaN without one.

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
