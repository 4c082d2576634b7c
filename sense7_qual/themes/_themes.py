"""The result of `fit`, and its typical texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS
from sense7_qual.themes._communities import NO_GROUP
from sense7_qual.themes._results import QUOTES


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Themes:
    """The themes of a set of units, as frames. Its `repr` shows counts only, never a text or a term.

    Attributes
    ----------
    assignments
        One row per unit, by unit_id: `unit_id`, `theme` (0 = the largest; −1 = a blank text, or one that
        is like no other), `similarity` (cosine of the unit to its theme's centre, −1 … 1; NaN if theme is
        −1), `coarse` and `sub` (its coarse theme and its sub-theme, numbered as in `hierarchy`).
    terms
        One row per theme and term: `theme`, `rank` (from 1), `term` (a word or a pair of words that
        occurs in at least two texts), `weight` (c-TF-IDF, above 0; comparable within a theme). Of the terms
        with most weight, those with texts of their own come first; a pair replaces a word that is mostly in
        it, and the commonest spelling the others.
    summary
        One row per theme: `theme`, `label` (its top terms), `n_units`, `n_texts` (distinct texts),
        `n_cases` (distinct case_id; units without one do not count), `similarity` (mean), `stability`,
        `dissolved`, `recovered`. `stability` is the mean Jaccard similarity, 0 … 1, of the theme to its
        best match over the bootstrap resamples; `dissolved` and `recovered` are the shares of resamples
        in which it was at most .5, or at least .75. The usual reading (Hennig 2007): below .5 another
        sample of the same kind of texts dissolves the theme, and it should not be reported as found; from
        .75 it is stable; in between there is a pattern, but its units are not certain. NaN if `n_resamples`
        was 0.
    quotes
        One row per theme and rank: `theme`, `rank` (from 1, at most 10), `unit_id`, `typicality` (the
        unit's `similarity`). Texts that share most of their words with one before come last, equal ones
        are listed once. The function `typical` adds the texts.
    granularities
        One row per granularity tried, from coarse to fine: `granularity`, `n_themes`,
        `largest` (the share of distinct texts in the largest theme), `n_resamples`, `ari` (adjusted Rand
        index of two resamples on their common texts, mean over all pairs; 1 = the same themes, 0 if each
        has one theme), `ari_low` and `ari_high` (a tenth of the pairs is below, above),
        `ari_chance` (`ari` for as many texts without any groups, at most 1,000; mean over up to six such
        sets), `beyond_chance` ((ari − ari_chance) / (1 − ari_chance)), `chosen`. NaN with fewer than two
        resamples.
    hierarchy
        One row per group: `level` ("coarse", "theme", "sub"), `group` (0 = the largest of its level),
        `parent` (the group of the level above; missing at the top), `label`, `n_units`, `n_texts`,
        `n_cases`, `stability` (as in `summary`, at the granularity of the level). A coarse theme consists
        of whole themes, a sub-theme is part of one theme. A level without groups of its own repeats the
        themes.
    parameters
        Everything needed to report the themes and to compute them again: the model, seed, settings, counts,
        the versions of the libraries, and the SHA-256 of the units' ids and texts. `n_themes_as_good` has the
        least and the largest number of themes that resamples reproduce about as well as the chosen number;
        `languages` has the number of texts in each language that has a share of them. With a codebook:
        `codebook` (its fingerprint), `codes_not_shown` and `codes_scattered`, see `codes`.
    codes
        With a codebook one row per codable code: `code`, `label`, `theme` (missing without one), `n_units`
        (of its theme), `shown`, `closeness` and `nearest_unit` (the unit nearest to its definition or to one
        of its examples). `closeness` (0 … 1) is the share of texts that are no nearer to any other text than
        the definition and the examples are to theirs, a mean; about .5 for examples like the texts. Under .2
        (.05 for a definition alone) no text seems to show the code, and `shown` is False: on four labelled
        sets that was said of 5 % of the codes that texts did show and of 56 % of the others. A code that is
        shown but has no theme is *scattered*: its nearest texts are in several themes. `summary` then has the
        column `expected`, the code of each theme; missing where no code covers it.
    """

    assignments: pd.DataFrame
    terms: pd.DataFrame
    summary: pd.DataFrame
    quotes: pd.DataFrame
    parameters: dict[str, Any]
    granularities: pd.DataFrame = field(default_factory=pd.DataFrame)
    hierarchy: pd.DataFrame = field(default_factory=pd.DataFrame)
    codes: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __repr__(self) -> str:
        nowhere = int((self.assignments["theme"] == NO_GROUP).sum())
        spoken = list(self.parameters.get("languages") or {})
        several = f"; texts in {', '.join(spoken)}" if len(spoken) > 1 else ""
        low, high = self.parameters.get("n_themes_as_good") or (0, 0)
        several += f"; {low} to {high} would do as well" if low < high else ""
        if "expected" in self.summary:
            several += f"; {int(self.summary['expected'].notna().sum())} of codes"
        return (
            f"Themes({len(self.summary)} themes of {len(self.assignments)} units, {nowhere} in none{several})"
        )


@QUOTES.returns
def typical(themes: Themes, units: pd.DataFrame, *, n: int = 3) -> pd.DataFrame:
    """List the `n` most typical units of each theme with their texts.

    Parameters
    ----------
    themes, units
        The result of `fit`, and the units that it was computed from.
    n
        Quotes per theme, at most 10; fewer for a theme with fewer distinct texts.

    Raises
    ------
    TableError
        A typical unit is not among `units`.

    Examples
    --------
    >>> themes = Themes(
    ...     assignments=pd.DataFrame(), terms=pd.DataFrame(), parameters={},
    ...     summary=pd.DataFrame({"theme": [0], "label": ["queue, slow"]}),
    ...     quotes=pd.DataFrame({"theme": [0, 0], "rank": [1, 2], "unit_id": ["b", "a"],
    ...         "typicality": [0.9, 0.8]}))
    >>> units = pd.DataFrame({"unit_id": ["a", "b"], "text": ["The queue was endless", "So slow"],
    ...     "document_id": "d", "case_id": "p", "position": [1, 2]})
    >>> typical(themes, units, n=1)[["theme", "label", "unit_id", "text"]]
       theme        label unit_id     text
    0      0  queue, slow       b  So slow
    """
    check_arguments(typical, locals())
    check_least(typical, 1, n=n)
    units = UNITS.check(units)
    chosen = themes.quotes[themes.quotes["rank"] <= n]
    absent = chosen.loc[~chosen["unit_id"].isin(units["unit_id"]), "unit_id"]
    if len(absent):
        raise TableError(
            f"typical: expected the units of the themes – found no {first_three(absent)} – pass the frame "
            "that `fit` was given."
        )
    labelled = chosen.merge(themes.summary[["theme", "label"]], on="theme")
    joined = labelled.merge(units[["unit_id", "case_id", "text"]], on="unit_id")
    return joined[["theme", "label", "rank", "unit_id", "case_id", "typicality", "text"]]
