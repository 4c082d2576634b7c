"""Agreement on spans: where in a text a code applies, not only whether it does.

Tools report different numbers under one name, so each has its own here, and `span_agreement` puts them side
by side:

- *on all text*: Krippendorff's u-alpha (2016) compares coded and uncoded text, character by character. Long
  stretches that everyone leaves uncoded count as agreement: leaving them out was a decision.
- *on coded text only*: cu-alpha, and (k)u-alpha of one code, take only text that coders have coded, and ask
  whether they chose the same code. They do not measure whether the spans were found.
- *the 2004 alpha_U*, which compares the borders of spans; it was replaced by the above.
- *overlap F1*: the share of shared characters, without correction for chance.

All count code points, half-open. A coder who finished a text without a span of a code has decided that none
of it has the code. A coding of the whole text counts as a span over all of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling
from sense7_qual._decisions import of_round
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._reasons import Reason
from sense7_qual.agreement._counts import cluster_numbers
from sense7_qual.agreement._intervals._bootstrap import (
    Interval,
    Resampling,
    effective_clusters,
    interval_of_resamples,
    resampled_interval,
)
from sense7_qual.agreement._results import SPAN_AGREEMENT
from sense7_qual.agreement.spans._boundary_similarity import (
    SegmentationAgreement as SegmentationAgreement,
    boundary_similarity,
    segmentation_agreement,
)
from sense7_qual.agreement.spans._gamma import Gamma as Gamma, gamma, gamma_dissimilarity
from sense7_qual.agreement.spans._unitizing_alphas import (
    Tally,
    UnitizingAlphas as UnitizingAlphas,
    all_text,
    all_text_alpha,
    all_text_parts,
    alpha_u_2004,
    border_alpha,
    by_text,
    coded_text,
    coded_text_alpha,
    coded_text_parts,
    over_texts,
    resampled_borders,
    unitizing_alphas,
)
from sense7_qual.agreement.spans._values import SPANS, Continuum, Lengths, continuum, covered, warn_of_models
from sense7_qual.errors import TableError
from sense7_qual.frames import CODINGS, COVERAGE, UNITS, clusters_by_unit

__all__ = [
    "alpha_u_2004",
    "boundary_similarity",
    "gamma",
    "gamma_dissimilarity",
    "overlap_f1",
    "segmentation_agreement",
    "span_agreement",
    "unitizing_alphas",
]

Integers = npt.NDArray[np.int64]
_NAN: Final = float("nan")
_REASON_OF: Final = {
    "alpha_all_text": "reason",
    "alpha_coded_text": "reason_coded_text",
    "alpha_u_2004": "reason_2004",
    "overlap_f1": "reason_f1",
}
Estimated = tuple[float, str | None, Callable[[], Interval]]
Floats = npt.NDArray[np.float64]
_EQUAL: Final = 1e-9


def __dir__() -> list[str]:
    return __all__


def overlap_f1(spans_a: pd.DataFrame, spans_b: pd.DataFrame, *, lengths: Lengths | None = None) -> float:
    """Return the overlap F1 of two coders' spans: shared characters against the mean of both.

    Use it to describe the share of marked text in common, and to compare with studies that report it. It is
    not corrected for chance and rises with the share of coded text: report an alpha as well.

    Parameters
    ----------
    spans_a, spans_b : DataFrame
        unit_id, code, start, end of each coder, on the texts that both finished. A character counts once for
        each of its codes.
    lengths : Series or mapping, optional
        unit_id to the text's number of code points; needed where a coding of a whole text (no start and end)
        is among the spans.

    Returns
    -------
    float
        2 · shared / (a + b), 0 to 1; the order of the two does not matter. NaN, with a warning, if neither
        has a span.

    Raises
    ------
    TableError
        A column is missing, a span does not lie within its text, or a length is needed.

    References
    ----------
    Hripcsak & Rothschild (2005), Agreement, the F-measure, and reliability in information retrieval, JAMIA
    12, 296–298: it equals positive specific agreement on characters.

    Examples
    --------
    >>> columns = ["unit_id", "code", "start", "end"]
    >>> ana = pd.DataFrame([["m1", "interest", 0, 10]], columns=columns)
    >>> ben = pd.DataFrame([["m1", "interest", 5, 15]], columns=columns)
    >>> overlap_f1(ana, ben)
    0.5
    """
    check_arguments(overlap_f1, locals())
    both = pd.concat([SPANS.check(spans_a.assign(coder="a")), SPANS.check(spans_b.assign(coder="b"))])
    size = _reach(both) if lengths is None else lengths
    done = pd.DataFrame({"unit_id": both["unit_id"].unique()}).merge(
        pd.DataFrame({"coder": ["a", "b"]}), how="cross"
    )
    line = continuum(both, size, done)
    if not len(line.first):
        warnings.warn(
            "overlap_f1 is not defined here (NaN): neither coder has a span.", RuntimeWarning, stacklevel=2
        )
        return _NAN
    shared = sum(_overlap_parts(line, code)[:, 0].sum() for code in range(len(line.codes)))
    return float(2 * shared / line.length.sum())


def _reach(spans: pd.DataFrame) -> pd.Series:
    """Return the end of the last span of each text: enough as its length if no span is a whole text."""
    whole = spans.loc[spans["end"].isna(), "unit_id"].unique()
    if len(whole):
        raise TableError(
            f"spans: expected start and end – found codings of whole texts on {first_three(whole)} – pass "
            "lengths=units.set_index('unit_id')['text'].str.len()."
        )
    return spans.groupby("unit_id")["end"].max()


@SPAN_AGREEMENT.returns
def span_agreement(
    codings: pd.DataFrame,
    coverage: pd.DataFrame,
    units: pd.DataFrame,
    *,
    code: str | Sequence[str] | None = None,
    round: str | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the agreement on where each code applies, on all text and on coded text only.

    Use it for coded spans. Codes may overlap: each is compared by itself. If codes are given to whole texts
    only, use `by_code`: here long texts would have more weight than short ones.

    Parameters
    ----------
    codings, coverage : DataFrame
        As `Store.codings` and `Store.coverage` return them. Codings on texts that the coder has not finished,
        and those of `consensus`, `majority`, `pooled` and of models, are left out. A coding without start and
        end counts as a span over the full text.
    units : DataFrame
        unit_id, text …
    code : str or sequence of str, optional
        The codes to report, in this order; by default all, in the order of their first appearance. All codes
        count as coded text in either case.
    round : str, optional
        The round to compare. By default, for each coder and text, the one finished last: a span coded in two
        rounds counts once.
    cluster, n_boot, confidence_level, seed
        As for `by_code`.

    Raises
    ------
    TableError
        A frame breaks its contract, a span does not lie within its text, a code is unknown, or a unit has no
        cluster or several.
    ArgumentError
        `n_boot`, `confidence_level` or `seed` is out of its range.

    Notes
    -----
    The intervals are the bias-corrected and accelerated bootstrap of `by_code`, over clusters of texts. The
    older alpha_U takes the most time: the texts are laid end to end again for every resample.

    References
    ----------
    Krippendorff, Mathet, Bouvry & Widlöcher (2016), Quality & Quantity 50, 2347–2364; Krippendorff (2004),
    Content Analysis (2nd ed.); Hripcsak & Rothschild (2005), JAMIA 12, 296–298. Intervals: see `by_code`.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> from sense7_qual.codebook import Codebook
    >>> sense7 = Codebook.read("sense7")
    >>> at = {"ana": (0, 10), "ben": (5, 15)}
    >>> record = acts.fold([act for coder, (start, end) in at.items() for act in (
    ...     acts.apply(coder=coder, unit_id="m1", code="interest", start=start, end=end, codebook=sense7),
    ...     acts.finish(coder=coder, unit_id="m1", codebook=sense7))])
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked me how my week had been."],
    ...                       "document_id": ["d1"], "case_id": ["p1"], "position": [0]})
    >>> agreement = span_agreement(record.codings, record.coverage, units, seed=7)
    >>> agreement[["code", "overlap_f1"]].values.tolist()
    [['interest', 0.5]]
    """
    check_arguments(span_agreement, locals())
    check_resampling("span_agreement", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    codings, coverage, units = CODINGS.check(codings), COVERAGE.check(coverage), UNITS.check(units)
    warn_of_models(codings, coverage, function="span_agreement")
    if round is not None or coverage.duplicated(["unit_id", "coder"]).any():
        codings, coverage = of_round(codings, coverage, round=round)
    in_order = units.sort_values(["document_id", "position", "unit_id"], kind="stable")
    lengths = in_order.set_index("unit_id")["text"].str.len()
    lines = [continuum(codings, lengths, coverage, by_all=by_all) for by_all in (False, True)]
    labels = None if cluster is None else clusters_by_unit(units, cluster)
    clusters = [cluster_numbers(pd.Index(line.unit_ids, dtype="string"), labels) for line in lines]
    how = Resampling(n_boot, confidence_level, seed)
    each = by_text(lines[0])
    known = _known(lines[0], clusters[0]) | {"n_units_2004": len(lines[1].unit_ids)}
    known |= {"confidence_level": confidence_level, "seed": seed}
    rows = []
    for name in _chosen(code, lines[0].codes):
        k = lines[0].codes.index(name)
        row = {"code": name} | known | _described(lines[0], each, k)
        estimates = _of_lengths(lines[0], each, k, clusters[0], how) | _of_borders(
            lines[1], k, clusters[1], how
        )
        rows.append(row | _columns(estimates, n_boot))
    return SPAN_AGREEMENT.frame(rows)


def _chosen(code: str | Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    chosen = known if code is None else [code] if isinstance(code, str) else list(code)
    for name in chosen:
        if name not in known:
            raise TableError(
                f"codings: expected codings of code {name!r} – found none – {did_you_mean(name, known)}"
            )
    return chosen


def _known(line: Continuum, cluster: Integers) -> dict[str, object]:
    return {
        "n_units": line.finished.shape[1],
        "n_coders": int(line.finished.any(axis=1).sum()),
        "n_clusters": len(np.unique(cluster)),
        "n_characters": int(line.edges[-1]),
    }


def _described(line: Continuum, each: Tally, k: int) -> dict[str, object]:
    total, length = each.total.sum(), each.length[:, k].sum()
    return {
        "n_spans": int((line.of_code == k).sum()),
        "prevalence": length / total if total else _NAN,
        "coded_share": each.coded[:, k].sum() / length if length else _NAN,
    }


def _of_lengths(
    line: Continuum, each: Tally, k: int, cluster: Integers, how: Resampling
) -> dict[str, Estimated]:
    """Return each statistic of lengths of text: the number, why there is none, and its interval."""
    sums, parts = over_texts(each), _overlap_parts(line, k)
    f1 = float(_mean_f1(parts.sum(axis=0)))
    why = None if not np.isnan(f1) else Reason.NO_VARIATION if sums.total else Reason.NO_PAIRABLE_UNITS
    return {
        "alpha_all_text": (*all_text(sums, k), partial(_all_text_interval, each, k, cluster, how)),
        "alpha_coded_text": (
            *coded_text(sums, k),
            partial(_coded_text_interval, each, k, cluster, how),
        ),
        "overlap_f1": (f1, why, partial(_overlap_interval, parts, cluster, how)),
    }


def _of_borders(line: Continuum, k: int, cluster: Integers, how: Resampling) -> dict[str, Estimated]:
    alpha, why = border_alpha(line, [k])
    return {"alpha_u_2004": (alpha, why, partial(_border_interval, line, k, alpha, cluster, how))}


def _columns(estimates: dict[str, Estimated], n_boot: int) -> dict[str, object]:
    row: dict[str, object] = {}
    undefined = []
    for name, (value, why, interval_of) in estimates.items():
        interval = interval_of() if why is None else Interval(reason=why)
        row |= {name: value, f"{name}_low": interval.low, f"{name}_high": interval.high}
        row[_REASON_OF[name]] = interval.reason
        undefined += [interval.n_undefined] if interval.n_undefined is not None else []
    return row | ({"n_boot": n_boot, "n_undefined": max(undefined)} if undefined else {})


def _all_text_interval(each: Tally, k: int, cluster: Integers, how: Resampling) -> Interval:
    """Return the interval of u-alpha of a code, from what each text (T,) in its cluster adds."""
    parts = all_text_parts(each, k)
    total, length, both, _ = _by_cluster(parts, cluster).T
    few = _too_few([length, total - length], length - both)
    return Interval(reason=few) if few else resampled_interval(parts, cluster, all_text_alpha, how)


def _coded_text_interval(each: Tally, k: int, cluster: Integers, how: Resampling) -> Interval:
    """Return the interval of (k)u-alpha of a code, from what each text (T,) in its cluster adds."""
    parts = coded_text_parts(each, k)
    coded, both, _, total, _, _ = _by_cluster(parts, cluster).T
    few = _too_few([coded, total - coded], coded - both)
    return Interval(reason=few) if few else resampled_interval(parts, cluster, coded_text_alpha, how)


def _overlap_interval(parts: Floats, cluster: Integers, how: Resampling) -> Interval:
    """Return the interval of the overlap F1, averaged over pairs of coders, from its parts in each text."""
    shared, marked = np.split(_by_cluster(parts, cluster), 2, axis=1)
    few = _too_few([marked.sum(axis=1)], (marked - 2 * shared).sum(axis=1))
    return Interval(reason=few) if few else resampled_interval(parts, cluster, _mean_f1, how)


def _border_interval(
    line: Continuum, k: int, estimate: float, cluster: Integers, how: Resampling
) -> Interval:
    """Return the interval of the alpha_U of 2004 of a code; `line` holds texts that every coder finished."""
    spans = np.bincount(cluster[line.of_text[line.of_code == k]], minlength=_n(cluster)).astype(np.float64)
    few = _too_few([spans], np.array([1 - estimate]))
    if few:
        return Interval(reason=few)
    n = len(spans)
    draws = np.random.default_rng(how.seed).multinomial(n, np.full(n, 1 / n), size=how.n_boot)
    resamples = resampled_borders(line, k, draws[:, cluster])
    without = resampled_borders(line, k, (1 - np.eye(n, dtype=np.int64))[:, cluster])
    # What a text changes would take as long as the resamples: as of texts that do not depend on each other.
    n_groups = effective_clusters(np.zeros(len(cluster)), np.ones(len(cluster)), cluster)
    return interval_of_resamples(resamples, estimate, np.nanmean(without) - without, n_groups, how)


def _overlap_parts(line: Continuum, k: int) -> Floats:
    """Return, for each text and pair of coders, the shared and then the marked characters (T, 2 · pairs).

    A pair counts on the texts that both finished.
    """
    here = covered(line, line.of_code == k)
    done = line.finished[:, line.text]
    first, second = np.triu_indices(len(line.coders), 1)
    parts = np.zeros((line.finished.shape[1], 2, len(first)))
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        width = line.width * (done[a] & done[b])
        for of, count in enumerate((here[a] & here[b], here[a].astype(np.int64) + here[b])):
            parts[:, of, pair] = np.bincount(line.text, width * count, minlength=len(parts))
    return parts.reshape(len(parts), 2 * len(first))


def _mean_f1(parts: Floats) -> Floats:
    """Return the overlap F1 (…), a mean over pairs of coders, from sums (…, 2 · pairs); NaN without spans."""
    shared, marked = np.split(parts, 2, axis=-1)
    each = np.divide(2 * shared, marked, out=np.zeros_like(marked), where=marked > 0)
    n_pairs = (marked > 0).sum(axis=-1)
    out = np.full(np.shape(n_pairs), np.nan)
    return np.asarray(np.divide(each.sum(axis=-1), n_pairs, out=out, where=n_pairs > 0))


def _n(cluster: Integers) -> int:
    return int(cluster.max()) + 1 if len(cluster) else 0


def _by_cluster(parts: Floats, cluster: Integers) -> Floats:
    """Sum what texts (T, K) add over their clusters (G, K)."""
    rows = np.zeros((_n(cluster), parts.shape[1]))
    np.add.at(rows, cluster, parts)
    return rows


def _too_few(carried: Sequence[Floats], differ: Floats) -> Reason | None:
    """Return the reason if the clusters (G,) are too few for an interval, or the coders differ in too few."""
    if len(carried[0]) < 2:
        return Reason.ONE_CLUSTER
    if min((length > 0).sum() for length in carried) < FEWEST_CLUSTERS:
        return Reason.FEW_CLUSTERS
    return None if (differ > _EQUAL).any() else Reason.NO_DISAGREEMENT
