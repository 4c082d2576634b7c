"""Tables for a paper: codebook, reliability, links to ratings, and quotes.

Every function takes unrounded frames and returns a `Table` of finished text that can be written as Markdown,
LaTeX and HTML. Numbers are rounded here and in figures alone, in APA style. What could not be computed is
printed as "–", and a note under the table says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import pandas as pd

from sense7_qual import quotes, results
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import TableError, first_three
from sense7_qual.results import MISSING
from sense7_qual.tables import require_column
from sense7_qual.typeset import Table

__all__ = ["Table", "codebook_table", "link_table", "quote_table", "reliability_table"]

_CONVENTIONS: Final = (0.667, 0.8)

_SOURCES: Final[Mapping[str, str]] = {
    "majority": "the majority of the coders",
    "consensus": "the consensus after adjudication",
}


def codebook_table(codebook: Codebook, *, notes: Sequence[str] = ()) -> Table:
    """Return the codebook as a table: each code's definition, rules of use, examples and origin.

    One row per code in the codebook's order: label (and the code that it stands under), definition, when to
    use it, when not to, examples and counter-examples, origin and source. A part that the codebook leaves
    empty is printed as "–". `notes` adds lines to the foot.

    References
    ----------
    MacQueen, McLellan, Kay & Milstein (1998), Codebook development for team-based qualitative analysis,
    Cultural Anthropology Methods 10(2), 31–36: the parts of a code.

    Examples
    --------
    >>> table = codebook_table(Codebook.read("sense7"))
    >>> table.headers
    ('Code', 'Definition', 'Use when', 'Do not use when', 'Examples', 'Origin')
    >>> table.rows[3][0]
    'Prosocial Expression'
    """
    rows = tuple(_codebook_row(code, codebook) for code in codebook.codes)
    empty = [f"{MISSING} = not given in the codebook."] if any(MISSING in row for row in rows) else []
    facet = [f"Each coding can carry a valence: {', '.join(codebook.valence)}."] if codebook.valence else []
    source = [f"Source of the codebook: {codebook.source.rstrip('.')}."] if codebook.source else []
    return Table(
        title=f"Codebook – {codebook.title or codebook.name}",
        headers=("Code", "Definition", "Use when", "Do not use when", "Examples", "Origin"),
        rows=rows,
        notes=(*empty, *facet, *source, *_rule_sources(codebook), *notes, _made_with(codebook)),
        widths=(0.13, 0.21, 0.19, 0.19, 0.18, 0.10),
    )


def reliability_table(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    cross_check: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return inter-coder agreement as a table, one row per code.

    Parameters
    ----------
    agreement : DataFrame
        The result of `agreement.by_code`, one row per code: code, n_units, n_coders, n_clusters, prevalence
        and percent (0–1), alpha (at most 1), alpha_low, alpha_high, n_boot, n_undefined, confidence_level,
        seed, reason. A missing number is printed as "–" and its reason in the foot.
    codebook : Codebook, optional
        Gives the labels and the order of the codes; without it the ids are printed in the frame's order.
    digits : int
        Decimals of alpha and its interval (1–6); percentages have one.
    cluster_name : str
        What the resampled clusters are, as a plural, such as "participants".
    cross_check : DataFrame, optional
        The result of `agreement.cross_check` on the same decisions: the foot then states with which packages
        the agreement was recomputed, and the largest difference.
    notes : sequence of str
        Further lines for the foot, such as the round, or the share of the corpus coded twice.

    Raises
    ------
    TableError
        A column is missing, a code has several rows, rows were computed with different levels or seeds, or
        `cross_check` was computed from other decisions.
    CodebookError
        A code is not in the codebook.
    QualError
        `digits` is out of range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11: alpha, and
    the conventions .800 and .667, which the foot names and no number here depends on.

    Examples
    --------
    >>> result = pd.DataFrame({
    ...     "code": ["prosocial"], "n_units": [120], "n_coders": [2], "n_clusters": [40],
    ...     "prevalence": [0.254], "percent": [0.9123], "alpha": [0.7681], "alpha_low": [0.6412],
    ...     "alpha_high": [0.8666], "n_boot": [2000], "n_undefined": [0], "confidence_level": [0.95],
    ...     "seed": [7], "reason": [None]})
    >>> reliability_table(result).rows
    (('prosocial', '120', '25.4', '91.2', '.77', '[.64, .87]'),)
    """
    rows = results.rows(agreement, results.AGREEMENT_COLUMNS, frame_name="agreement", codebook=codebook)
    interval = results.interval_name(rows, frame_name="agreement")
    return Table(
        title="Inter-coder agreement by code",
        headers=("Code", "n", "Prevalence (%)", "Agreement (%)", "α", interval),
        rows=tuple(_reliability_row(row, digits) for row in rows),
        notes=(
            _reliability_terms(rows),
            _bootstrap_note(rows, interval, cluster_name, "α", results.seed(rows, frame_name="agreement")),
            *_reason_notes(rows, ("prevalence", "percent", "alpha", "alpha_low", "alpha_high")),
            "α ≥ .800, and α ≥ .667 for tentative conclusions, are Krippendorff's (2004) conventions, which "
            "are not verdicts.",
            *_near_conventions(rows, digits),
            *([] if cross_check is None else [_second_opinion(cross_check, rows)]),
            *notes,
            _made_with(codebook, rows),
        ),
        alignments=("left", "right", "right", "right", "right", "right"),
    )


def link_table(
    links: pd.DataFrame,
    *,
    source: str,
    codebook: Codebook | None = None,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Return the association of codes with a rating as a table, one row per code, for one source.

    Parameters
    ----------
    links : DataFrame
        The result of `links.code_to_rating`, one row per code and source: code, source, n_with, n_without,
        n_clusters, mean_difference (points of the rating, with minus without the code), rank_biserial and
        its interval (−1 to 1), p, p_adjusted, n_boot, n_undefined, confidence_level, seed, reason. A missing
        number is printed as "–" and its reason in the foot.
    source : str
        Whose decisions: a coder, "majority" or "consensus". There is no default, and sources are never
        pooled.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of the mean difference, the effect and its interval (1–6); p has three.
    rating : str, optional
        What was rated, for the title.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, there is no such source, a code has several rows for it, or rows were computed
        with different levels or seeds.
    CodebookError
        A code is not in the codebook.
    QualError
        `digits` is out of range.

    References
    ----------
    Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57(1), 289–300: the adjusted p.

    Examples
    --------
    >>> result = pd.DataFrame({
    ...     "code": ["prosocial"], "source": ["majority"], "n_with": [61], "n_without": [239],
    ...     "n_clusters": [40], "mean_with": [3.9], "mean_without": [3.55], "mean_difference": [0.35],
    ...     "rank_biserial": [0.214], "rank_biserial_low": [-0.012], "rank_biserial_high": [0.41],
    ...     "p": [0.0004], "p_adjusted": [0.0028], "n_boot": [2000], "n_undefined": [0],
    ...     "confidence_level": [0.95], "seed": [7], "reason": [None]})
    >>> link_table(result, source="majority").rows
    (('prosocial', '61', '239', '0.35', '.21', '[−.01, .41]', '< .001', '.003'),)
    """
    chosen = results.of_source(links, source)
    rows = results.rows(chosen, results.LINK_COLUMNS, frame_name="links", codebook=codebook)
    interval = results.interval_name(rows, frame_name="links")
    effects = ("Mean difference", "Rank-biserial r", interval, "p", "Adjusted p")
    return Table(
        title=f"Association of codes with {rating or 'the rating'}",
        headers=("Code", "n with", "n without", *effects),
        rows=tuple(_link_row(row, digits) for row in rows),
        notes=(
            _link_terms(source),
            _bootstrap_note(rows, interval, cluster_name, "r", results.seed(rows, frame_name="links")),
            f"p: two-sided, with {cluster_name} as clusters. Adjusted p: Benjamini–Hochberg over the codes "
            f"tested for this source (number: {sum(not pd.isna(row['p_adjusted']) for row in rows)}).",
            *_reason_notes(
                rows, ("mean_difference", "rank_biserial", "rank_biserial_low", "p", "p_adjusted")
            ),
            "These are associations: they do not show that what a code describes raised or lowered a rating.",
            *notes,
            _made_with(codebook, rows),
        ),
        alignments=("left", "right", "right", "right", "right", "right", "right", "right"),
    )


def quote_table(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    per_code: int = 3,
    max_length: int = 200,
    rating: str | None = None,
    seed: int,
    notes: Sequence[str] = (),
) -> Table:
    """Return quotes for each code with participant, rating and coders, chosen as the foot states.

    One row per quote as `quotes.select` chooses them: at most one per participant and code, spread over the
    ratings, seeded. A participant or rating that is not known is printed as "–".

    Parameters
    ----------
    codings, units : DataFrame
        The codings that stand (`tables.CODINGS`) and the texts (`tables.UNITS`).
    codebook : Codebook
        Gives the labels and the order of the codes.
    per_code : int
        Most quotes per code.
    max_length : int
        Characters (code points) after which a quote is cut at a word boundary and ends in "[…]".
    rating : str, optional
        The column of `units` with the rating.
    seed : int
        Zero or more; printed in the foot.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a coding is on an unknown unit or a span outside its text, or a rating is not a
        number.
    CodebookError
        A code is not in the codebook.
    QualError
        `per_code`, `max_length` or `seed` is out of range.

    References
    ----------
    Tong, Sainsbury & Craig (2007), COREQ, International Journal for Quality in Health Care 19(6), 349–357,
    item 29: quotations with participant numbers.

    Examples
    --------
    >>> from sense7_qual.tables import CODINGS
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked how my sister was doing."],
    ...     "document_id": ["t1"], "case_id": ["P07"], "position": [1], "EmpathyOverall": [4.0]})
    >>> codings = CODINGS.empty()
    >>> codings.loc[0, ["unit_id", "coder", "code", "start", "end"]] = ["m1", "ana", "interest", 3, 32]
    >>> table = quote_table(codings, units, codebook=Codebook.read("sense7"), rating="EmpathyOverall", seed=7)
    >>> table.rows
    (('Interest', 'asked how my sister was doing', 'P07', '4', 'ana'),)
    """
    chosen = quotes.select(codings, units, codebook=codebook, per_code=per_code, rating=rating, seed=seed)
    rated = rating is not None
    return Table(
        title="Quotes by code",
        headers=("Code", "Quote", "Participant", *([str(rating)] if rated else []), "Coders"),
        rows=tuple(_quote_row(quote, codebook, max_length, rated) for quote in chosen.to_dict("records")),
        notes=(
            _selection_note(per_code, max_length, rating, seed),
            *_shortage_notes(chosen, per_code, codebook),
            "Quotes are printed as written: check each for what could identify a person before publishing.",
            *notes,
            _made_with(codebook),
        ),
        alignments=("left", "left", "left", "right", "left") if rated else ("left",) * 4,
        widths=(0.17, 0.46, 0.13, 0.11, 0.13) if rated else (0.2, 0.5, 0.15, 0.15),
    )


def _codebook_row(code: Code, codebook: Codebook) -> tuple[str, ...]:
    label = f"{code.label}\n(under {codebook.code(code.parent).label})" if code.parent else code.label
    label += "" if code.codable else "\n(groups other codes; not applied itself)"
    examples = [*code.examples, *(f"Not: {example}" for example in code.counter_examples)]
    origin = "proposed by a model" if code.origin == "model" else code.origin
    cells = (code.definition, _listed(code.use_when), _listed(code.avoid_when), _listed(examples))
    return (label, *(cell or MISSING for cell in cells), f"{origin}\n{code.source}".strip())


def _listed(entries: Sequence[str]) -> str:
    return entries[0] if len(entries) == 1 else "\n".join(f"• {entry}" for entry in entries)


def _rule_sources(codebook: Codebook) -> list[str]:
    """Say whose the rules and examples are, since they can be other people's than the definition."""
    groups: dict[str, list[str]] = {}
    for code in codebook.codes:
        if code.rules_source:
            groups.setdefault(code.rules_source, []).append(code.label)
    every = len(codebook.codes)
    return [
        f"Rules and examples: {source} ({'all codes' if len(labels) == every else ', '.join(labels)})."
        for source, labels in groups.items()
    ]


def _reliability_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        row["label"],
        results.count(row["n_units"]),
        results.percent(row["prevalence"]),
        results.percent(row["percent"]),
        results.coefficient(row["alpha"], digits),
        results.interval(row["alpha_low"], row["alpha_high"], digits),
    )


def _reliability_terms(rows: Sequence[Mapping[str, Any]]) -> str:
    coders = results.count_range(row["n_coders"] for row in rows)
    return (
        "Unit of analysis: the text. n = texts that two or more coders finished (number of coders: "
        f"{coders}). Prevalence = share of the decisions on these texts in which the code is applied. "
        "Agreement = mean share of coder pairs that decided alike. α = Krippendorff's alpha, nominal."
    )


def _link_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        row["label"],
        results.count(row["n_with"]),
        results.count(row["n_without"]),
        results.number(row["mean_difference"], digits),
        results.coefficient(row["rank_biserial"], digits),
        results.interval(row["rank_biserial_low"], row["rank_biserial_high"], digits),
        results.p_value(row["p"]),
        results.p_value(row["p_adjusted"]),
    )


def _link_terms(source: str) -> str:
    return (
        f"Whose decisions: {_SOURCES.get(source, f'coder {source}')}. n = rated texts with and without the "
        "code. Mean difference = mean rating with the code minus without. Rank-biserial r = probability that "
        "a text with the code is rated higher than one without, minus the probability that it is rated "
        "lower; positive = rated higher with the code."
    )


def _bootstrap_note(
    rows: Sequence[Mapping[str, Any]], interval: str, cluster_name: str, name: str, seed: str
) -> str:
    undefined = [
        f"{row['label']} {results.count(row['n_undefined'])}"
        for row in rows
        if not pd.isna(row["n_undefined"]) and row["n_undefined"] > 0
    ]
    resampled = [row for row in rows if not pd.isna(row["n_boot"])]
    limits = _not_resampled(rows, cluster_name)
    if not resampled:
        return f"{interval}:{limits}" if limits else f"{interval}: none, because nothing was resampled."
    clusters = results.count_range(row["n_clusters"] for row in resampled)
    resamples = results.count_range(row["n_boot"] for row in resampled)
    alone = ", one text each" if all(row["n_clusters"] == row.get("n_units") for row in resampled) else ""
    return (
        f"{interval}: bootstrap over whole {cluster_name} (number: {clusters}{alone}; B = {resamples} "
        f"resamples; {seed}). Resamples in which {name} was not defined: {', '.join(undefined) or 'none'}."
        + limits
    )


def _not_resampled(rows: Sequence[Mapping[str, Any]], cluster_name: str) -> str:
    """Name the rows whose interval is not from resamples (see `agreement.estimate`)."""
    labels = [row["label"] for row in rows if pd.isna(row["n_boot"]) and not pd.isna(row.get("alpha_low"))]
    if not labels:
        return ""
    return (
        f" Not resampled: {', '.join(labels)} (from leaving out each of the {cluster_name}, Student's t; a "
        "binomial limit where coders never disagreed)."
    )


def _reason_notes(rows: Sequence[Mapping[str, Any]], numbers: Iterable[str]) -> list[str]:
    """Spell out, grouped by reason, why a value is missing, or with what caution a present one is read."""
    groups: dict[str, list[str]] = {}
    names = list(numbers)
    for row in rows:
        missing = any(pd.isna(row[name]) for name in names)
        if missing or not pd.isna(row["reason"]):
            lead = f"{MISSING} = not computable" if missing else "To be read with caution"
            groups.setdefault(f"{lead}: {results.reason_words(row['reason'])}", []).append(row["label"])
    return [f"{words} ({', '.join(labels)})." for words, labels in groups.items()]


def _near_conventions(rows: Sequence[Mapping[str, Any]], digits: int) -> list[str]:
    """Name the codes whose alpha reaches a convention in print only."""
    known = [(row["label"], float(row["alpha"])) for row in rows if not pd.isna(row["alpha"])]
    near = {
        convention: [label for label, alpha in known if alpha < convention <= round(alpha, digits)]
        for convention in _CONVENTIONS
    }
    return [
        f"Below {results.coefficient(convention, 3)} before rounding: {', '.join(labels)}."
        for convention, labels in near.items()
        if labels
    ]


def _second_opinion(cross_check: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> str:
    """State with what the agreement was recomputed, and the largest difference."""
    for name in ("code", "statistic", "ours", "difference", "package", "version", "reason"):
        require_column(cross_check, name, frame_name="cross_check")
    labels = {str(row["code"]): str(row["label"]) for row in rows}
    checks = cross_check[cross_check["code"].astype("string").isin(list(labels))]
    _refuse_other_decisions(checks, rows)
    known = checks[checks["difference"].notna()]
    one_sided = checks[checks["reason"] == "one_side_undefined"]
    told = [f"{labels[str(row.code)]}, {row.statistic}" for row in one_sided.itertuples()]
    caution = f" Defined on one side alone: {'; '.join(told)}." if told else ""
    if not len(known):
        return f"Second opinion: nothing could be recomputed.{caution}"
    packages = dict.fromkeys(f"{row.package} {row.version}" for row in known.itertuples())
    worst = known.sort_values("difference").iloc[-1]
    largest = float(worst["difference"])
    size = "below 1e-12" if largest < 1e-12 else f"{largest:.1e}"
    where = "" if largest < 1e-12 else f" ({labels[str(worst['code'])]}, {worst['statistic']})"
    names = ", ".join(dict.fromkeys(str(name) for name in known["statistic"]))
    return (
        f"Second opinion: {names} recomputed with {', '.join(packages)}; largest absolute difference "
        f"{size}{where}.{caution}"
    )


def _refuse_other_decisions(checks: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a cross-check whose alphas are not those of the table."""
    alphas = checks[checks["statistic"] == "alpha"]
    checked = {str(code): ours for code, ours in zip(alphas["code"], alphas["ours"], strict=True)}
    wrong = [
        str(row["code"])
        for row in rows
        if not pd.isna(row["alpha"])
        and not abs(checked.get(str(row["code"]), float("nan")) - row["alpha"]) < 1e-9
    ]
    if wrong:
        raise TableError(
            f"cross_check: expected the alphas of the table – found others, or none, for "
            f"{first_three(wrong)} – pass the cross_check of the same decisions."
        )


def _made_with(codebook: Codebook | None, rows: Sequence[Mapping[str, Any]] | None = None) -> str:
    """Name the codebook by its fingerprint, its codes that have no row, and the software."""
    software = f"Made with sense7_qual {version('sense7_qual')}."
    if codebook is None:
        return software
    number = f", version {codebook.version}" if codebook.version else ""
    used = None if rows is None else {str(row["code"]) for row in rows}
    absent = [] if used is None else [code.label for code in codebook.codable if code.id not in used]
    without = f" Codes without a result: {', '.join(absent)}." if absent else ""
    name = codebook.title or codebook.name
    return f"Codebook: {name}{number}, fingerprint {codebook.fingerprint}.{without} {software}"


def _quote_row(quote: Mapping[Any, Any], codebook: Codebook, max_length: int, rated: bool) -> tuple[str, ...]:
    case = MISSING if pd.isna(quote["case_id"]) else str(quote["case_id"])
    given = results.number(quote["rating"], 2).removesuffix(".00")
    label, text = codebook.code(quote["code"]).label, quotes.shortened(quote["quote"], max_length)
    return (label, text, case, given, quote["coders"]) if rated else (label, text, case, quote["coders"])


def _selection_note(per_code: int, max_length: int, rating: str | None, seed: int) -> str:
    spread = f"; the first at random, each next one with the rating ({rating}) farthest from those chosen"
    return (
        f"Selection: up to {per_code} quotes per code and at most one per participant and code, drawn at "
        f"random (seed {seed}){spread if rating else ''}. A coding of a span shows the span, one of a whole "
        f"text the text; over {max_length} characters it is cut at a word boundary: […]. Coders = all who "
        "applied the code to that text."
    )


def _shortage_notes(chosen: pd.DataFrame, per_code: int, codebook: Codebook) -> list[str]:
    shown = chosen["code"].value_counts()
    few = [f"{c.label} ({shown.get(c.id, 0)})" for c in codebook.codable if shown.get(c.id, 0) < per_code]
    notes = [f"Fewer than {per_code} participants have the code: {', '.join(few)}."] if few else []
    if chosen["case_id"].isna().any():
        notes.append(f"{MISSING} as participant = not known; such a text counts as a participant of its own.")
    return notes
