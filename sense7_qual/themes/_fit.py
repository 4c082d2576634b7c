"""Themes from texts: embed, group, describe, resample, and put it into frames."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.themes._bertopic import Topics, topics
from sense7_qual.themes._graph_clusters import NO_GROUP, centres
from sense7_qual.themes._stability import stability
from sense7_qual.themes._texts import Embed, Progress, Texts, distinct_texts, embedded
from sense7_qual.themes._themes import Themes

__all__ = ["fit"]

#: Under so many distinct texts a neighbour graph has no communities worth a name.
_LEAST_TEXTS: Final = 50
_N_QUOTES: Final = 10
_LABEL_TERMS: Final = 3


def fit(
    units: pd.DataFrame,
    *,
    embed: Embed,
    seed: int = 0,
    granularity: float = 1.0,
    min_size: int = 5,
    n_resamples: int = 20,
    stop_words: str | Collection[str] | None = "english",
    progress: Progress | bool | None = None,
) -> Themes:
    """Propose themes: group the units by meaning, with terms, typical units and stability for each.

    BERTopic with a neighbour graph in place of UMAP and HDBSCAN: each distinct text is joined to its 10
    nearest by cosine, the communities of that graph are the themes (Louvain, best of 10 runs), c-TF-IDF
    gives their terms. Equal texts count once, so a phrase that is pasted a hundred times makes no theme.
    The order of the rows changes nothing; the same units, model, seed and versions give the same themes.

    Parameters
    ----------
    units
        The `units` frame. Blank texts are in no theme (−1) and counted in `parameters["n_blank"]`.
    embed
        A function from a list of texts to an array (n, d), such as `models.embedder()`.
    seed
        0 or more; of the communities and of the resamples.
    granularity
        Above 0 (useful: .5 to 4): more gives more and smaller themes. The resolution of the communities.
    min_size
        The least number of distinct texts of a theme, from 2. A smaller group is dissolved: each text
        goes to the theme with the nearest centre if it is as near to it as that theme's own members are,
        otherwise to none (−1).
    n_resamples
        Bootstrap resamples for the stability; 0 for none.
    stop_words
        Words that are no terms: "english", your own list for another language, or None. With "english",
        "not" stays where it changes a word ("not helpful"), and "didn't" is read as "did not".
    progress
        `progress(stage, done, total)` with the stages embed, cluster, describe, resample; True shows bars.

    Returns
    -------
    Themes

    Raises
    ------
    TableError
        Not a `units` frame; fewer than 50 distinct texts (see `nearest`); settings out of range; an
        `embed` that does not give one finite vector per text.
    ImportRefused
        The extra ``themes`` is not installed.

    References
    ----------
    Grootendorst (2022), BERTopic, arXiv 2203.05794; Blondel et al. (2008), J. Stat. Mech. P10008;
    Hennig (2007), Computational Statistics & Data Analysis 52, 258–271.

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
       theme              label  n_units  n_cases  stability
    0      0  queue, slow, wait       20        7        1.0
    """
    check_arguments(fit, locals())
    _check_settings(seed, granularity, min_size, n_resamples)
    _check_installed()
    texts = distinct_texts(units)
    _check_enough(texts)
    with _reporting(progress) as report:
        vectors = embedded(texts.distinct, embed, report)
        result = topics(
            texts.distinct,
            vectors,
            weights=np.bincount(texts.text_of[texts.text_of >= 0]),
            resolution=granularity,
            min_size=min_size,
            n_resamples=n_resamples,
            seed=seed,
            stop_words=stop_words,
            report=report,
        )
    settings: dict[str, Any] = {
        "model": _name_of(embed),
        "dimensions": vectors.shape[1],
        "seed": seed,
        "granularity": granularity,
        "min_size": min_size,
        "n_resamples": n_resamples,
        "stop_words": stop_words if isinstance(stop_words, str | None) else sorted(stop_words),
    }
    return _themes(texts, vectors, result, settings)


def _themes(texts: Texts, vectors: npt.NDArray[Any], result: Topics, settings: dict[str, Any]) -> Themes:
    middle = centres(vectors, result.labels)
    own = np.full(len(result.labels), np.nan)
    inside = result.labels != NO_GROUP
    own[inside] = np.einsum("ij,ij->i", vectors[inside], middle[result.labels[inside]])
    has_text = texts.text_of >= 0
    assignments = pd.DataFrame(
        {
            "unit_id": texts.units["unit_id"],
            "theme": np.where(has_text, result.labels[texts.text_of], NO_GROUP),
            "similarity": np.where(has_text, own[texts.text_of], np.nan),
        }
    )
    counts = {
        "n_units": len(assignments),
        "n_texts": len(texts.distinct),
        "n_blank": int((~has_text).sum()),
        "n_themes": len(middle),
        "n_nowhere": int((assignments["theme"] == NO_GROUP).sum()),
    }
    return Themes(
        assignments=assignments,
        terms=result.terms,
        summary=_summary(texts, assignments, result),
        quotes=_typical(texts, assignments),
        parameters=settings | result.settings | counts | _provenance(texts),
    )


def _summary(texts: Texts, assignments: pd.DataFrame, result: Topics) -> pd.DataFrame:
    rows = assignments.assign(text=texts.text_of, case_id=texts.units["case_id"])
    rows = rows[rows["theme"] != NO_GROUP]
    summary = rows.groupby("theme").agg(
        n_units=("unit_id", "size"),
        n_texts=("text", "nunique"),
        n_cases=("case_id", "nunique"),
        similarity=("similarity", "mean"),
    )
    summary.insert(0, "label", pd.Series(_labels(result.terms), dtype="string").reindex(summary.index))
    return summary.assign(**stability(result.jaccard)).reset_index()


def _labels(terms: pd.DataFrame) -> dict[int, str]:
    """Join the top terms of each theme, leaving out a term that repeats a word of one before it."""
    labels: dict[int, str] = {}
    for theme, listed in terms.groupby("theme")["term"]:
        chosen: list[str] = []
        for term in listed:
            if not set(term.split()) & set(" ".join(chosen).split()) and len(chosen) < _LABEL_TERMS:
                chosen.append(term)
        labels[int(str(theme))] = ", ".join(chosen)
    return labels


def _typical(texts: Texts, assignments: pd.DataFrame) -> pd.DataFrame:
    rows = assignments.assign(text=texts.text_of)
    rows = rows[rows["theme"] != NO_GROUP].drop_duplicates("text")
    rows = rows.sort_values(["theme", "similarity", "unit_id"], ascending=[True, False, True])
    rows["rank"] = rows.groupby("theme").cumcount() + 1
    rows = rows[rows["rank"] <= _N_QUOTES].rename(columns={"similarity": "typicality"})
    return rows[["theme", "rank", "unit_id", "typicality"]].reset_index(drop=True)


def _provenance(texts: Texts) -> dict[str, Any]:
    """Name the libraries' versions and the units, so that a reader can tell whether theirs are the same."""
    whole = hashlib.sha256()
    for unit_id, text in zip(texts.units["unit_id"], texts.units["text"].fillna(""), strict=True):
        whole.update(f"{len(unit_id)} {unit_id} {len(text)} {text}\n".encode("utf-8", "surrogatepass"))
    names = ("sense7_qual", "bertopic", "networkx", "numpy", "scikit-learn")
    return {"units_sha256": whole.hexdigest(), "versions": {name: metadata.version(name) for name in names}}


def _name_of(embed: Embed) -> str:
    name = getattr(embed, "model_id", None) or getattr(embed, "__qualname__", type(embed).__qualname__)
    return str(name)


def _check_settings(seed: int, granularity: float, min_size: int, n_resamples: int) -> None:
    wrong = {
        "seed (0 or more)": seed if seed < 0 else None,
        "granularity (above 0)": None if granularity > 0 else granularity,
        "min_size (from 2)": min_size if min_size < 2 else None,
        "n_resamples (0 or more)": n_resamples if n_resamples < 0 else None,
    }
    for expected, value in wrong.items():
        if value is not None:
            raise TableError(f"fit: expected {expected} – found {value} – pass a value in that range.")


def _check_installed() -> None:
    missing = [name for name in ("bertopic", "networkx") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportRefused(
            f"fit: expected the packages of the extra 'themes' – found no {' and no '.join(missing)} – "
            "pip install 'sense7_qual[themes]'."
        )


def _check_enough(texts: Texts) -> None:
    n = len(texts.distinct)
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

        bar = bars.setdefault(stage, None) or tqdm(total=total, desc=stage)
        bars[stage] = bar
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    try:
        yield show if progress else lambda stage, done, total: None
    finally:
        for bar in bars.values():
            bar.close()
