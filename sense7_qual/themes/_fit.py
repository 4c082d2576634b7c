"""Themes from texts: embed, group, resample, describe, and put into frames; warn of several languages."""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._languages import in_share, languages, unread
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.themes._communities import NO_GROUP, Labels, centres
from sense7_qual.themes._granularity import Groups, groups, stability
from sense7_qual.themes._neighbours import Floats, Vectors, check_number
from sense7_qual.themes._terms import Terms, labels_of, named_stop_words
from sense7_qual.themes._texts import Embed, Progress, Texts, distinct_texts, embedded, sha256_of
from sense7_qual.themes._themes import Themes

#: Under so many distinct texts a neighbour graph has no communities worth a name.
_LEAST_TEXTS: Final = 50


def fit(
    units: pd.DataFrame,
    *,
    embed: Embed,
    codebook: Codebook | None = None,
    seed: int = 0,
    granularity: float | None = None,
    min_size: int = 5,
    n_resamples: int = 20,
    stop_words: str | Collection[str] | None = "by_language",
    progress: Progress | bool | None = None,
) -> Themes:
    """Propose themes: group the units by meaning, with terms, typical units and stability for each.

    Each distinct text is linked to its nearest neighbours by cosine (a tenth of all, between 15 and 30; fewer
    from 5,000 texts on), with UMAP's weights; the communities of this graph (Leiden) are the themes, and
    class-based TF-IDF gives their terms. By default the granularity is the median of those that bootstrap
    samples reproduce above chance. Texts that differ only in case, punctuation and blanks count once, so a
    phrase pasted a hundred times makes no theme.
    The order of the rows has no effect; the same units, model, seed and versions give the same themes, byte
    for byte.

    Themes are what texts are about, not how their writers feel: on texts labelled with emotions none of the
    topic models tried found the emotions (adjusted Rand index under .07).

    Parameters
    ----------
    units
        The `units` frame. Blank texts are in no theme (−1) and counted in `parameters["n_blank"]`.
    embed
        A function from a list of texts to an array (n, d), such as `models.embedder()`.
    codebook
        Looks for expected themes along with new ones: a code has its theme where most of the texts nearest to
        its definition and examples are, a group of several codes is divided between them, and the other
        groups stay as they are. `summary["expected"]` has the code of each theme, `codes` a row per code:
        its theme, or that no text seems to show it. On four labelled sets that nothing was tuned on themes
        were nearer to the labels in the codebook than without it (``benchmarks/themes_expected.md``); which
        code a theme really shows is for people to say.
    seed
        Seed of the communities and of the resamples, 0 or more.
    granularity
        Above 0; higher values give more and smaller themes (the resolution of the communities). None chooses
        among nine values from .5 to 8, see `Themes.granularities`; it needs at least two resamples. A value
        at which a theme holds most of the texts is chosen only if resamples clearly agree (index of .75 or
        more).
    min_size
        The least number of distinct texts of a theme, from 2. The texts of a smaller group join the themes
        to which they are linked most strongly.
    n_resamples
        Bootstrap resamples for the stability and the granularity; 0 for none. From 1,000 distinct texts on
        the granularity is chosen with fewer of them (20,000 / texts, at least 3).
    stop_words
        Words to exclude from terms: those of the languages that the texts are in ("by_language"), of those
        that you name ("english", "english, german"), your own list, or None. "Not" and its like are kept
        where they change a word ("not helpful"); in English "didn't" is read as "did not".
    progress
        `progress(stage, done, total)` with the stages embed, cluster, resample, chance, describe; True shows
        bars. It is first called before the model is loaded.

    Returns
    -------
    Themes

    Raises
    ------
    TableError
        Not a `units` frame; fewer than 50 distinct texts (see `nearest`); settings out of range; `embed`
        does not return one finite vector per text.
    ImportRefused
        The extra ``themes`` is not installed, or for more than 20,000 distinct texts the extra ``large``.

    Warns
    -----
    UserWarning
        The texts seem to be in several languages (by script and by their commonest words), and the model is
        not one of many languages; or in a language that no installed model reads, such as Vietnamese.

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
       theme         label  n_units  n_cases  stability
    0      0  answer wrong       20        7        1.0
    """
    check_arguments(fit, locals())
    _check_settings(seed, granularity, min_size, n_resamples)
    _check_installed()
    texts = distinct_texts(units)
    _check_enough(texts)
    with _reporting(progress) as report:
        vectors = embedded(texts.distinct, embed, report)
        spoken = in_share(languages(texts.distinct))
        _warn_of_several(spoken, embed)
        stop_words = named_stop_words(stop_words, spoken)
        found = groups(
            vectors,
            weights=np.bincount(texts.text_of[texts.text_of >= 0]),
            granularity=granularity,
            min_size=min_size,
            n_resamples=n_resamples,
            seed=seed,
            report=report,
            codebook=codebook,
            embed=embed,
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
            "stop_words": stop_words,
            "languages": spoken,
        }
        themes = themes_of(texts, vectors, found, terms, parameters | _provenance(texts, found))
        report("describe", 1, 1)
    return themes if codebook is None else _with_codes(themes, texts, found, codebook)


def _with_codes(themes: Themes, texts: Texts, found: Groups, codebook: Codebook) -> Themes:
    """Add which theme shows which code, and which codes no text seems to show."""
    assert found.expected is not None  # noqa: S101 – for the type checker
    first = pd.Series(texts.units["unit_id"].to_numpy(), index=texts.text_of)
    codes = found.expected.frame(found.themes, found.codes, codebook, first[~first.index.duplicated()])
    of_theme = codes.dropna(subset="theme").set_index("theme")["code"]
    summary = themes.summary.assign(expected=themes.summary["theme"].map(of_theme).astype("string"))
    size = themes.summary.set_index("theme")["n_units"]
    codes.insert(3, "n_units", codes["theme"].map(size).fillna(0).astype("int64"))
    lacking = codes[codes["theme"].isna()]
    parameters = {
        "codebook": codebook.fingerprint,
        "codes_not_shown": lacking.loc[~lacking["shown"], "code"].tolist(),
        "codes_scattered": lacking.loc[lacking["shown"], "code"].tolist(),
    }
    return replace(themes, summary=summary, codes=codes, parameters=themes.parameters | parameters)


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
            "granularity (such as 1), or n_resamples=20."
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
            "so few have no reproducible groups; use "
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


def _warn_of_several(found: dict[str, int], embed: Embed) -> None:
    """Warn of several languages where the model may read but one, and of those that no model reads."""
    if len(found) > 1 and not getattr(embed, "multilingual", False):
        listed = ", ".join(f"{name} ({number:,})" for name, number in found.items())
        warnings.warn(
            f"fit: the texts seem to be in several languages: {listed} of those looked at. With a model of "
            "one language, themes part by language – use `models.embedder('multilingual')`.",
            stacklevel=3,
        )
    if nobody_reads := unread(found, getattr(embed, "model_id", "")):
        listed = ", ".join(f"{name} ({found[name]:,} of the texts looked at)" for name in nobody_reads)
        warnings.warn(
            f"fit: expected texts in languages that an installed model reads – found {listed} – read these "
            "texts yourself: their themes mean little. A model of that language can be named in "
            "`models.embedder`.",
            stacklevel=3,
        )


_WORD: Final = re.compile(r"[^\W\d_]+")
_N_QUOTES: Final = 10


def themes_of(
    texts: Texts, vectors: Vectors, found: Groups, terms: Terms, parameters: dict[str, Any]
) -> Themes:
    """Put the groups into frames, and count units, cases and what is in no theme."""
    assignments = pd.DataFrame(
        {
            "unit_id": texts.units["unit_id"],
            "theme": _of_units(texts, found.themes),
            "similarity": _similarity(texts, vectors, found.themes),
            "coarse": _of_units(texts, found.coarse),
            "sub": _of_units(texts, found.subs),
        }
    )
    listed = terms.of(found.themes)
    rows = described(texts, assignments["theme"], listed).assign(**stability(found.jaccard["theme"]))
    similarity = assignments.groupby("theme")["similarity"].mean().reindex(rows.index)
    rows.insert(4, "similarity", similarity)
    counts = {
        "n_units": len(assignments),
        "n_texts": len(texts.distinct),
        "n_blank": int((texts.text_of < 0).sum()),
        "n_themes": len(rows),
        "n_nowhere": int((assignments["theme"] == NO_GROUP).sum()),
    }
    return Themes(
        assignments=assignments,
        terms=listed,
        summary=rows.rename_axis("theme").reset_index(),
        quotes=typical(texts, assignments),
        parameters=parameters | counts,
        granularities=found.granularities,
        hierarchy=_hierarchy(texts, assignments, found, terms, rows),
    )


def _of_units(texts: Texts, labels: Labels) -> Labels:
    return np.where(texts.text_of >= 0, labels[texts.text_of], NO_GROUP)


def _similarity(texts: Texts, vectors: Vectors, labels: Labels) -> Floats:
    own = np.full(len(labels), np.nan)
    inside = labels != NO_GROUP
    own[inside] = np.einsum("ij,ij->i", vectors[inside], centres(vectors, labels)[labels[inside]])
    return np.where(texts.text_of >= 0, own[texts.text_of], np.nan)


def described(texts: Texts, group: pd.Series, terms: pd.DataFrame) -> pd.DataFrame:
    """Return one row per group, by number: its label and counts."""
    rows = texts.units.assign(group=group.to_numpy(), text=texts.text_of)
    rows_of_group: pd.DataFrame = (
        rows[rows["group"] != NO_GROUP]
        .groupby("group")
        .agg(n_units=("unit_id", "size"), n_texts=("text", "nunique"), n_cases=("case_id", "nunique"))
    )
    labels = pd.Series(labels_of(terms), dtype="string").reindex(rows_of_group.index)
    rows_of_group.insert(0, "label", labels)
    return rows_of_group


def _hierarchy(
    texts: Texts, assignments: pd.DataFrame, found: Groups, terms: Terms, themes: pd.DataFrame
) -> pd.DataFrame:
    """Return the coarse themes, the themes and the sub-themes, each with its parent."""
    columns = ["label", "n_units", "n_texts", "n_cases", "stability"]
    levels = []
    above: pd.Series | None = None
    for name, column, labels in (
        ("coarse", "coarse", found.coarse),
        ("theme", "theme", found.themes),
        ("sub", "sub", found.subs),
    ):
        rows = themes
        if name != "theme":
            rows = described(texts, assignments[column], terms.of(labels))
            rows = rows.assign(**stability(found.jaccard[name]))
        parent = pd.Series(pd.NA, index=rows.index, dtype="Int64")
        if above is not None:
            parent = above.groupby(assignments[column]).first().reindex(rows.index).astype("Int64")
        level = rows[columns].rename_axis("group").reset_index()
        level.insert(0, "level", pd.Series(name, index=level.index, dtype="string"))
        level.insert(2, "parent", parent.to_numpy())
        levels.append(level)
        above = assignments[column]
    return pd.concat(levels, ignore_index=True)


def typical(texts: Texts, assignments: pd.DataFrame) -> pd.DataFrame:
    """Return the units most similar to their theme's centre; those in nearly the same words come last."""
    rows = assignments.assign(text=texts.text_of)
    rows = rows[rows["theme"] != NO_GROUP].drop_duplicates("text")
    rows = rows.sort_values(["theme", "similarity", "unit_id"], ascending=[True, False, True])
    words = [frozenset(_WORD.findall(text.lower())) for text in texts.distinct]
    chosen = [at for _, own in rows.groupby("theme")["text"] for at in _unlike(own, words)]
    rows = rows.loc[chosen]
    rows["rank"] = rows.groupby("theme").cumcount() + 1
    rows = rows.rename(columns={"similarity": "typicality"})
    return rows[["theme", "rank", "unit_id", "typicality"]].reset_index(drop=True)


def _unlike(texts: pd.Series, words: list[frozenset[str]]) -> list[Any]:
    """Return the places of the first ten texts that share less than half of their words with one before."""
    taken: list[Any] = []
    repeated: list[Any] = []
    for at, text in texts.items():
        if len(taken) == _N_QUOTES:
            break
        own = words[text]
        alike = any(2 * len(own & words[texts[one]]) > len(own | words[texts[one]]) for one in taken)
        (repeated if alike else taken).append(at)
    return [*taken, *repeated][:_N_QUOTES]
