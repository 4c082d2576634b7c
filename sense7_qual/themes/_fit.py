"""Themes from texts: embed, group, resample, describe, and put it into frames."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.themes._frames import themes_of
from sense7_qual.themes._groups import Groups, groups
from sense7_qual.themes._languages import warn_of_several
from sense7_qual.themes._neighbours import check_number
from sense7_qual.themes._terms import Terms
from sense7_qual.themes._texts import Embed, Progress, Texts, distinct_texts, embedded, sha256_of
from sense7_qual.themes._themes import Themes

__all__ = ["fit"]

#: Under so many distinct texts a neighbour graph has no communities worth a name.
_LEAST_TEXTS: Final = 50


def fit(
    units: pd.DataFrame,
    *,
    embed: Embed,
    seed: int = 0,
    granularity: float | None = None,
    min_size: int = 5,
    n_resamples: int = 20,
    stop_words: str | Collection[str] | None = "english",
    progress: Progress | bool | None = None,
) -> Themes:
    """Propose themes: group the units by meaning, with terms, typical units and stability for each.

    Each distinct text is joined to its nearest by cosine (a tenth of all, between 15 and 30; fewer again from
    5,000 texts on), with UMAP's weights; the communities of that graph (Leiden) are the themes, class-based
    TF-IDF gives their terms. How fine they are is the middle of what bootstrap samples of the texts show
    again beyond chance. Equal texts count once, so a phrase that is pasted a hundred times makes no theme.
    The order of the rows changes nothing; the same units, model, seed and versions give the same themes,
    byte for byte.

    Themes are what texts are about, not how their writers feel: on texts labelled with emotions no topic
    model that was tried found them (adjusted Rand index under .07).

    Parameters
    ----------
    units
        The `units` frame. Blank texts are in no theme (−1) and counted in `parameters["n_blank"]`.
    embed
        A function from a list of texts to an array (n, d), such as `models.embedder()`.
    seed
        0 or more; of the communities and of the resamples.
    granularity
        Above 0: more gives more and smaller themes (the resolution of the communities). None: chosen among
        nine from .5 to 8, see `Themes.granularities`; it needs at least two resamples. One at which a theme
        holds most of the texts is taken only where resamples are clearly alike (index of .75 or more).
    min_size
        The least number of distinct texts of a theme, from 2. The texts of a smaller group go to the themes
        that they are joined to most strongly.
    n_resamples
        Bootstrap resamples for the stability and the granularity; 0 for none. From 1,000 distinct texts on
        the granularity is chosen with fewer of them (20,000 / texts, at least 3).
    stop_words
        Words that are no terms: "english", your own list for another language, or None. With "english",
        "not" stays where it changes a word ("not helpful"), and "didn't" is read as "did not".
    progress
        `progress(stage, done, total)` with the stages embed, cluster, resample, chance, describe; True shows
        bars. First called before the model is loaded.

    Returns
    -------
    Themes

    Raises
    ------
    TableError
        Not a `units` frame; fewer than 50 distinct texts (see `nearest`); settings out of range; an
        `embed` that does not give one finite vector per text.
    ImportRefused
        The extra ``themes`` is not installed, or for more than 20,000 distinct texts the extra ``large``.

    Warns
    -----
    UserWarning
        The texts seem to be in several languages (by script and by their commonest words).

    References
    ----------
    Traag, Waltman & van Eck (2019), Scientific Reports 9, 5233; McInnes, Healy & Melville (2018), UMAP,
    arXiv 1802.03426; Grootendorst (2022), BERTopic, arXiv 2203.05794; Hubert & Arabie (1985), Journal of
    Classification 2, 193–218; Hennig (2007), Computational Statistics & Data Analysis 52, 258–271.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> words = ["wait queue slow", "kind warm caring", "answer wrong fact"]
    >>> texts = [f"{words[i % 3]} {'abcdefghijklmnopqrst'[i // 3]}x" for i in range(60)]
    >>> units = pd.DataFrame({"unit_id": [f"u{i:02}" for i in range(60)], "text": texts,
    ...     "document_id": "d", "case_id": [f"p{i % 7}" for i in range(60)], "position": range(60)})
    >>> counts = HashingVectorizer(n_features=256)
    >>> themes = fit(units, embed=lambda texts: counts.transform(texts).toarray(), seed=7)
    >>> themes
    Themes(3 themes of 60 units, 0 in none)
    >>> themes.summary[["theme", "label", "n_units", "n_cases", "stability"]].head(1)
       theme                label  n_units  n_cases  stability
    0      0  answer, fact, wrong       20        7        1.0
    """
    check_arguments(fit, locals())
    _check_settings(seed, granularity, min_size, n_resamples)
    _check_installed()
    texts = distinct_texts(units)
    _check_enough(texts)
    with _reporting(progress) as report:
        vectors = embedded(texts.distinct, embed, report)
        warn_of_several(texts.distinct)
        found = groups(
            vectors,
            weights=np.bincount(texts.text_of[texts.text_of >= 0]),
            granularity=granularity,
            min_size=min_size,
            n_resamples=n_resamples,
            seed=seed,
            report=report,
        )
        terms = Terms(texts.distinct, stop_words)
        parameters: dict[str, Any] = {
            "model": _name_of(embed),
            "dimensions": vectors.shape[1],
            "seed": seed,
            "granularity": found.granularity,
            "granularity_chosen": granularity is None,
            "min_size": min_size,
            "n_resamples": n_resamples,
            "stop_words": stop_words if isinstance(stop_words, str | None) else sorted(stop_words),
        }
        themes = themes_of(texts, vectors, found, terms, parameters | _provenance(texts, found))
        report("describe", 1, 1)
    return themes


def _provenance(texts: Texts, found: Groups) -> dict[str, Any]:
    """Name the libraries' versions and the units, so that a reader can tell whether theirs are the same."""
    names = ("sense7_qual", "graspologic-native", "numpy", "scipy", "scikit-learn")
    versions = {name: metadata.version(name) for name in names}
    return found.settings | {"units_sha256": sha256_of(texts), "versions": versions}


def _name_of(embed: Embed) -> str:
    name = getattr(embed, "model_id", None) or getattr(embed, "__qualname__", type(embed).__qualname__)
    return str(name)


def _check_settings(seed: int, granularity: float | None, min_size: int, n_resamples: int) -> None:
    if granularity is None and n_resamples in (0, 1):
        raise TableError(
            f"fit: expected at least 2 resamples to choose the granularity – found {n_resamples} – pass a "
            "granularity (1, say), or n_resamples=20."
        )
    wrong = {
        "seed (0 or more)": seed if seed < 0 else None,
        "granularity (above 0)": None if granularity is None or granularity > 0 else granularity,
        "min_size (from 2)": min_size if min_size < 2 else None,
        "n_resamples (0 or more)": n_resamples if n_resamples < 0 else None,
    }
    for expected, value in wrong.items():
        if value is not None:
            raise TableError(f"fit: expected {expected} – found {value} – pass a value in that range.")


def _check_installed() -> None:
    missing = [name for name in ("graspologic_native", "sklearn") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportRefused(
            f"fit: expected the packages of the extra 'themes' – found no {' and no '.join(missing)} – "
            "pip install 'sense7_qual[themes]'."
        )


def _check_enough(texts: Texts) -> None:
    n = len(texts.distinct)
    check_number(n, function="fit")
    if n < _LEAST_TEXTS:
        raise TableError(
            f"fit: expected {_LEAST_TEXTS} distinct texts or more – found {n} in {len(texts.units)} units – "
            "so few have no groups that another sample would show again; use "
            "`themes.nearest(units, embed=embed)` and read them."
        )


@contextmanager
def _reporting(progress: Progress | bool | None) -> Iterator[Progress]:
    """Turn the `progress` argument into a function (stage, done, total); True: a bar for each stage."""
    if callable(progress):
        yield progress
        return
    bars: dict[str, Any] = {}

    def show(stage: str, done: int, total: int) -> None:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]

        bar = bars.setdefault(stage, None) or tqdm(total=total, desc=stage, leave=False)
        bars[stage] = bar
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    try:
        yield show if progress else lambda stage, done, total: None
    finally:
        for bar in bars.values():
            bar.close()
