"""Agreement on spans: where a code stands in a text, not only whether it is given.

Tools report different numbers under one name, so each has its own here, and `span_agreement` puts them side
by side:

- *on all text*: Krippendorff's u-alpha (2016) compares what is coded and what is left uncoded, character by
  character. Long uncoded stretches that everyone leaves uncoded count as agreement, as they should: leaving
  them out was a decision.
- *on coded text only*: cu-alpha, and (k)u-alpha of one code, look only where coders have coded something, and
  ask whether they chose the same code. They say nothing on whether the spans were found.
- *the 2004 alpha_U*, which compares the borders of spans; it was replaced by the above.
- *overlap F1*: the share of shared characters, with no correction for chance.

All count code points, half-open. A coder who finished a text without a span of a code has decided that none
of it has the code. A coding of the whole text counts as a span over all of it.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.agreement.span_values import SPANS, Continuum, Lengths, continuum, covered
from sense7_qual.agreement.unitizing import (
    Tally,
    UnitizingAlphas,
    all_text,
    alpha_u_2004,
    border_alpha,
    coded_text,
    tally,
    unitizing_alphas,
)
from sense7_qual.errors import TableError, did_you_mean, first_three
from sense7_qual.tables import CODINGS, COVERAGE, UNITS

__all__ = ["UnitizingAlphas", "alpha_u_2004", "overlap_f1", "span_agreement", "unitizing_alphas"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_NAN: Final = float("nan")


def overlap_f1(spans_a: pd.DataFrame, spans_b: pd.DataFrame, *, lengths: Lengths | None = None) -> float:
    """Return the overlap F1 of two coders' spans: shared characters against the mean of both.

    Use it to describe how much of the marked text is the same, and to compare with studies that report it. It
    is not corrected for chance, so it rises with the share of text that is coded: report an alpha beside it.

    Parameters
    ----------
    spans_a, spans_b : DataFrame
        unit_id, code, start, end of either coder, on the texts that both finished. A character counts once
        for each code that it has.
    lengths : Series or mapping, optional
        unit_id to the text's number of code points; needed where a coding of a whole text (no start and end)
        is among the spans.

    Returns
    -------
    float
        2 · shared / (a + b), 0 to 1; the order of the two does not matter. NaN, with a warning, where neither
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
    both = pd.concat([SPANS.check(spans_a.assign(coder="a")), SPANS.check(spans_b.assign(coder="b"))])
    size = _reach(both) if lengths is None else lengths
    done = pd.DataFrame({"unit_id": both["unit_id"].unique()}).merge(
        pd.DataFrame({"coder": ["a", "b"]}), how="cross"
    )
    line = continuum(both, size, done)
    if not len(line.first):
        warnings.warn(
            "overlap_f1 is not defined here (NaN): neither has a span.", RuntimeWarning, stacklevel=2
        )
        return _NAN
    shared = sum(
        float(line.width @ covered(line, line.of_code == code).all(axis=0)) for code in range(len(line.codes))
    )
    return 2 * shared / float(line.length.sum())


def _reach(spans: pd.DataFrame) -> pd.Series:
    """Return where the last span of each text ends, which is length enough where no span is a whole text."""
    whole = spans.loc[spans["end"].isna(), "unit_id"].unique()
    if len(whole):
        raise TableError(
            f"spans: expected start and end – found codings of whole texts on {first_three(whole)} – pass "
            "lengths=units.set_index('unit_id')['text'].str.len()."
        )
    return spans.groupby("unit_id")["end"].max()


def span_agreement(
    codings: pd.DataFrame,
    coverage: pd.DataFrame,
    units: pd.DataFrame,
    *,
    code: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return how well the coders agree on where each code stands, on all text and on coded text only.

    Use it where spans are coded. Codes may overlap: each is compared by itself. Where codes are given to
    whole texts only, `by_code` is what you want: here long texts would count for more than short ones.

    Parameters
    ----------
    codings, coverage : DataFrame
        As `Store.codings` and `Store.coverage` return them. Codings on texts that the coder has not finished,
        and those of `consensus`, `majority` and `pooled`, are left out. A coding without start and end counts
        as a span over the full text.
    units : DataFrame
        unit_id, text …
    code : str or sequence of str, optional
        The codes to report, in this order; by default all, in the order of their first appearance. All codes
        count as coded text in either case.

    Returns
    -------
    DataFrame
        One row per code:

        - code
        - n_units, n_coders, n_spans, n_characters: texts that two or more coders finished, their coders, the
          code's spans there, and the characters of these texts
        - prevalence: share of the text that has the code, averaged over the coders, 0–1
        - alpha_all_text: u-alpha of the code against everything else
        - alpha_coded_text: (k)u-alpha, the code against the other codes where two coders coded something
        - coded_share: share of the code's text that alpha_coded_text looks at, 0–1
        - alpha_u_2004, n_units_2004: the older alpha_U, and the texts that every coder finished
        - overlap_f1: mean over the pairs of coders, 0–1, not corrected for chance
        - reason, reason_coded_text: missing, or why alpha_all_text (`no_pairable_units`, `no_variation`) or
          alpha_coded_text (also `not_coded_by_two`; `one_code`: there is no other code to take it for;
          `too_few_spans`: no other span that it could meet by chance) is NaN

    Raises
    ------
    TableError
        A frame is not what its contract says, a span does not lie within its text, or an unknown code.

    References
    ----------
    Krippendorff, Mathet, Bouvry & Widlöcher (2016), Quality & Quantity 50, 2347–2364; Krippendorff (2004),
    Content Analysis (2nd ed.); Hripcsak & Rothschild (2005), JAMIA 12, 296–298.

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
    >>> found = span_agreement(record.codings, record.coverage, units)
    >>> found[["code", "overlap_f1"]].values.tolist()
    [['interest', 0.5]]
    """
    codings, coverage, units = CODINGS.check(codings), COVERAGE.check(coverage), UNITS.check(units)
    lengths = units.set_index("unit_id")["text"].str.len()
    line = continuum(codings, lengths, coverage)
    older = continuum(codings, lengths, coverage, by_all=True)
    sums = tally(line)
    rows = [_row(line, sums, older, name) for name in _chosen(code, line.codes)]
    return pd.DataFrame(rows, columns=list(_RESULT)).astype(_RESULT)


_RESULT: Final = {
    "code": "string",
    "n_units": "int64",
    "n_coders": "int64",
    "n_spans": "int64",
    "n_characters": "int64",
    "prevalence": "float64",
    "alpha_all_text": "float64",
    "alpha_coded_text": "float64",
    "coded_share": "float64",
    "alpha_u_2004": "float64",
    "n_units_2004": "int64",
    "overlap_f1": "float64",
    "reason": "string",
    "reason_coded_text": "string",
}


def _chosen(code: str | Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    chosen = known if code is None else [code] if isinstance(code, str) else list(code)
    for name in chosen:
        if name not in known:
            raise TableError(
                f"codings: expected codings of code {name!r} – found none – {did_you_mean(name, known)}"
            )
    return chosen


def _row(line: Continuum, sums: Tally, older: Continuum, code: str) -> dict[str, object]:
    k = line.codes.index(code)
    alpha, reason = all_text(sums, k)
    coded, reason_coded = coded_text(sums, k)
    return {
        "code": code,
        "n_units": line.finished.shape[1],
        "n_coders": int(line.finished.any(axis=1).sum()),
        "n_spans": int((line.of_code == k).sum()),
        "n_characters": int(line.edges[-1]),
        "prevalence": sums.length[k] / sums.total if sums.total else _NAN,
        "alpha_all_text": alpha,
        "alpha_coded_text": coded,
        "coded_share": sums.coded[k] / sums.length[k] if sums.length[k] else _NAN,
        "alpha_u_2004": border_alpha(older, [k])[0],
        "n_units_2004": older.finished.shape[1],
        "overlap_f1": _mean_f1(line, k),
        "reason": reason,
        "reason_coded_text": reason_coded,
    }


def _mean_f1(line: Continuum, k: int) -> float:
    """Return the mean over pairs of coders of the overlap F1 on the texts that both finished."""
    here = covered(line, line.of_code == k)
    done = line.finished[:, line.text]
    found = []
    for a, b in itertools.combinations(range(len(line.coders)), 2):
        width = line.width * (done[a] & done[b])
        marked = width @ here[a] + width @ here[b]
        if marked:
            found.append(2 * float(width @ (here[a] & here[b])) / float(marked))
    return float(np.mean(found)) if found else _NAN
