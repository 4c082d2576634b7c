"""Gamma: agreement on spans by the best alignment of the coders' spans, through pygamma-agreement.

The package is an extra, because it brings a solver: `pip install "sense7_qual[spans]"`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual.agreement.spans._values import Continuum, Lengths, continuum, warn_of_models
from sense7_qual.errors import ArgumentError

_NAN: Final = float("nan")
_LARGEST_SEED: Final = 2**32 - 1
_MOST: Final = 1_000_000  # of a weight: beyond, its program knows no difference from 0
_MOST_COMBINATIONS: Final = 2e7  # the library holds them all, with one number for each pair of coders


@dataclass(frozen=True, slots=True)
class Gamma:
    """Gamma of coded spans, with its components.

    Attributes
    ----------
    gamma : float
        1 − observed / expected: at most 1; 0 is chance; NaN where it cannot be computed, with the reason.
    observed_disorder, expected_disorder : float
        Mean dissimilarity per span in the best alignment, and its mean over the random samples; 0 or more.
    n_units, n_coders, n_spans, n_samples : int
        Texts that every coder finished, their coders and spans, and the random samples.
    seed : int
        As given. Another seed gives another expected disorder.
    reason : str or None
        Why gamma is NaN: `no_pairable_units`, `no_variation` (nobody coded a span).
    """

    gamma: float
    observed_disorder: float
    expected_disorder: float
    n_units: int
    n_coders: int
    n_spans: int
    n_samples: int
    seed: int
    reason: str | None


def gamma(
    spans: pd.DataFrame,
    lengths: Lengths,
    *,
    coverage: pd.DataFrame | None = None,
    position_weight: float = 1.0,
    code_weight: float = 1.0,
    empty: float = 1.0,
    n_samples: int = 30,
    seed: int = 0,
) -> Gamma:
    """Return gamma: the agreement of the coders' best-aligned spans, in place and code, beyond chance.

    Use it where spans may overlap or be nested, and where nearly the same place is nearly as good as the
    same. Chance agreement is drawn at random, so report `n_samples` and the seed. It is slow for many coders
    with many spans in one text. For one number that needs no alignment see `unitizing_alphas`.

    Parameters
    ----------
    spans, lengths, coverage
        As for `unitizing_alphas`. Only texts that every coder finished count.
    position_weight, code_weight : float
        Weights of the dissimilarities in place and in code (α and β of the paper), 0 or more.
    empty : float
        Dissimilarity of a span and nothing (Δ∅), above 0.
    n_samples : int
        Random samples for the expected disorder, 1 or more; 30 in the paper.
    seed : int
        The same seed gives the same number.

    Returns
    -------
    Gamma
        At most 1; 0 is the disorder of spans placed and coded at random.

    Raises
    ------
    TableError
        As for `unitizing_alphas`.
    ArgumentError
        pygamma-agreement is not installed, a setting is out of its range, or there are too many spans: an
        alignment compares every combination of one span, or none, from each coder.

    Notes
    -----
    Spans are aligned within their text: the observed disorder is that of the best alignments of all texts,
    weighted with their numbers of spans. The expected disorder is that of samples on all texts laid end to
    end, drawn as pygamma-agreement draws them by default (number, length and distance of spans from normal
    distributions). With one text both are what pygamma-agreement gives.

    References
    ----------
    Mathet, Widlöcher & Métivier (2015), The unified and holistic method gamma (γ) for inter-annotator
    agreement measure and alignment, Computational Linguistics 41(3), 437–479. Titeux & Riad (2021),
    pygamma-agreement, JOSS 6(62), 2989.

    Examples
    --------
    >>> spans = pd.DataFrame(
    ...     [["t", "ana", "a", 1, 5], ["t", "ana", "b", 6, 10], ["t", "ana", "a", 20, 24],
    ...      ["t", "ana", "b", 30, 34], ["t", "ben", "a", 2, 6], ["t", "ben", "b", 31, 35]],
    ...     columns=["unit_id", "coder", "code", "start", "end"])
    >>> agreement = gamma(spans, {"t": 40}, seed=7)  # doctest: +SKIP
    >>> round(agreement.observed_disorder, 4)  # doctest: +SKIP
    0.7083
    """
    check_arguments(gamma, locals())
    _check(position_weight, code_weight, empty, n_samples, seed)
    warn_of_models(spans, coverage, function="gamma")
    line = continuum(spans, lengths, coverage, by_all=True)
    counts = {
        "n_units": line.finished.shape[1],
        "n_coders": int(line.finished.any(axis=1).sum()),
        "n_spans": len(line.first),
        "n_samples": n_samples,
        "seed": seed,
    }
    if not len(line.first):
        reason = Reason.NO_VARIATION if counts["n_units"] else Reason.NO_PAIRABLE_UNITS
        return Gamma(_NAN, _NAN, _NAN, **counts, reason=reason)
    _check_size(line)
    library = _library()
    with _quiet(), _seeded(seed):
        dissimilarity = library.CombinedCategoricalDissimilarity(
            alpha=position_weight, beta=code_weight, delta_empty=empty
        )
        observed = _observed(library, line, dissimilarity)
        expected = _expected(library, line, dissimilarity, n_samples)
    value = 1 - observed / expected if expected > 0 else _NAN
    return Gamma(value, observed, expected, **counts, reason=None if expected > 0 else Reason.NO_VARIATION)


def gamma_dissimilarity(
    a: tuple[float, float],
    b: tuple[float, float],
    *,
    same_code: bool,
    position_weight: float = 1.0,
    code_weight: float = 1.0,
    empty: float = 1.0,
) -> float:
    """Return the dissimilarity of two spans in gamma, from their places and their codes.

    Parameters
    ----------
    a, b : tuple of int
        Start and end of each span, half-open.
    same_code : bool
        Whether they have the same code.
    position_weight, code_weight, empty : float
        As for `gamma`.

    Returns
    -------
    float
        0 or more. Spans with a dissimilarity above twice `empty` are better left unaligned.

    Raises
    ------
    ArgumentError
        A span without length.

    References
    ----------
    Mathet, Widlöcher & Métivier (2015), equations 2 to 4: the squared quotient of the distances of both ends
    and the lengths of both spans.

    Examples
    --------
    >>> gamma_dissimilarity((1, 5), (2, 6), same_code=True)
    0.0625
    """
    check_arguments(gamma_dissimilarity, locals())
    _check(position_weight, code_weight, empty, n_samples=1, seed=0)
    lengths = a[1] - a[0], b[1] - b[0]
    if min(lengths) <= 0:
        raise ArgumentError(
            f"gamma_dissimilarity: expected start < end – found lengths {lengths[0]} and {lengths[1]} – the "
            "end is excluded."
        )
    place = (abs(a[0] - b[0]) + abs(a[1] - b[1])) / sum(lengths)
    return float((position_weight * place**2 + code_weight * (not same_code)) * empty)


def _check(position_weight: float, code_weight: float, empty: float, n_samples: int, seed: int) -> None:
    ranges = {
        "position_weight": (position_weight, 0 <= position_weight <= _MOST, f"from 0 to {_MOST}"),
        "code_weight": (code_weight, 0 <= code_weight <= _MOST, f"from 0 to {_MOST}"),
        "empty": (empty, 0 < empty <= _MOST, f"above 0, and at most {_MOST}"),
        "n_samples": (n_samples, n_samples >= 1 and n_samples == int(n_samples), "a whole number from 1"),
        "seed": (seed, 0 <= seed <= _LARGEST_SEED and seed == int(seed), f"from 0 to {_LARGEST_SEED}"),
    }
    for name, (value, fits, expected) in ranges.items():
        if not fits:
            raise ArgumentError(f"gamma: expected {name} to be {expected} – found {value!r} – correct it.")


def _check_size(line: Continuum) -> None:
    of_coder = np.bincount(line.of_coder, minlength=len(line.coders))
    combinations = float(np.prod(of_coder + 1.0))
    if combinations > _MOST_COMBINATIONS:
        raise ArgumentError(
            f"gamma: expected at most {_MOST_COMBINATIONS:.0e} combinations of the coders' spans – found "
            f"{combinations:.0e} in {len(line.first)} spans of {len(line.coders)} coders – take pairs of "
            "coders, or fewer texts."
        )


def _library() -> Any:
    try:
        import pygamma_agreement
    except ImportError as error:
        raise ArgumentError(
            "gamma: expected the package pygamma-agreement – found it not installed – "
            "pip install 'sense7_qual[spans]'."
        ) from error
    return pygamma_agreement


def _observed(library: Any, line: Continuum, dissimilarity: Any) -> float:
    """Return the disorder of the best alignments of the texts' spans, none across texts."""
    total = 0.0
    for text in np.unique(line.of_text).tolist():
        here = np.flatnonzero(line.of_text == text)
        # The library divides by the mean number of spans per coder, of this text; ours is of all texts.
        total += len(here) * float(_best(_laid_out(library, line, here.tolist()), dissimilarity))
    return total / len(line.first)


def _expected(library: Any, line: Continuum, dissimilarity: Any, n_samples: int) -> float:
    sampler = library.StatisticalContinuumSampler()
    sampler.init_sampling(_laid_out(library, line, range(len(line.first))))
    return float(np.mean([_best(sampler.sample_from_continuum, dissimilarity) for _ in range(n_samples)]))


def _best(laid_out: Any, dissimilarity: Any) -> float:
    return float(laid_out.get_best_alignment(dissimilarity).disorder)


def _laid_out(library: Any, line: Continuum, spans: Sequence[int]) -> Any:
    """Return the chosen spans in the library's own form; a coder without spans is there too."""
    from pyannote.core import Segment

    laid_out = library.Continuum()
    for coder in line.coders:
        laid_out.add_annotator(coder)
    for span in spans:
        segment = Segment(int(line.edges[line.first[span]]), int(line.edges[line.last[span]]))
        laid_out.add(line.coders[line.of_coder[span]], segment, line.codes[line.of_code[span]])
    return laid_out


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generator that the library draws from, and give it back as it was."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Leave out the library's repeated remark on which solver it takes; other messages go through."""
    root = logging.getLogger()

    def other(record: logging.LogRecord) -> bool:
        return "solver not installed" not in record.getMessage()

    # Without a handler the library's first remark would set up logging for the whole program.
    handler = logging.NullHandler()
    root.addFilter(other)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.removeFilter(other)
