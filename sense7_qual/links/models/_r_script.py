"""A model for R: what is not fitted here, random slopes and crossed effects, with the data that it needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import refuse_taken, save
from sense7_qual._messages import did_you_mean
from sense7_qual._rests_on import line_of_source
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links._inputs import RatingRange, checked_units, numbered, rated_units, ratings_of
from sense7_qual.links._odds import few_levels
from sense7_qual.links._resample import decided_by
from sense7_qual.links.models._likelihood import Link

_NOTHING: Final = 1e-12
_SCRIPT: Final = """\
# Made with sense7_qual {version}. In this folder: Rscript {name}
# Needs R's package ordinal: install.packages("ordinal"). Data: {data} holds numbers only; participants,
# conversations and other groups are numbered, and there is no text and no name in it.
# Basis: {basis}
library(ordinal)

data <- read.csv({data})
estimates <- {estimates}
if (file.exists(estimates)) stop(estimates, " exists already: move it away first")
groups <- {groups}
data[groups] <- lapply(data[groups], factor)
data$rating <- ordered(data$rating)
predictors <- {predictors}
# A code x is here the code less its participant's share of texts with it, which compares a participant's own
# texts; the share s compares participants. As links.code_to_rating does.

# Adaptive Gauss-Hermite quadrature where one intercept alone is random, else Laplace's approximation.
model <- clmm({formula},
              data = data, link = "{link}", nAGQ = {nodes}, Hess = TRUE)
print(summary(model))

# With the logit link exp(estimate) is an odds ratio. p and 95 % intervals: Student's t, as in sense7_qual.
# Degrees of freedom: one less than the participants with both (codes), with or without the code, whichever
# are fewer (shares), or all (other variables).
found <- coef(summary(model))[names(predictors), , drop = FALSE]
df <- {df}
half <- qt(0.975, df) * found[, "Std. Error"]
table <- data.frame(
  term = names(predictors), predictor = unname(predictors), estimate = found[, "Estimate"],
  standard_error = found[, "Std. Error"], low = found[, "Estimate"] - half, high = found[, "Estimate"] + half,
  p = 2 * pt(-abs(found[, "Estimate"] / found[, "Std. Error"]), df))
spread <- do.call(rbind, lapply(names(VarCorr(model)), function(group) {{
  sd <- attr(VarCorr(model)[[group]], "stddev")
  data.frame(term = paste("sd", names(sd), group), predictor = NA, estimate = unname(sd), standard_error = NA,
             low = NA, high = NA, p = NA)
}}))
write.csv(rbind(table, spread), estimates, row.names = FALSE)
print(rbind(table, spread), row.names = FALSE)
print(sessionInfo())
"""


def r_script(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    path: str | Path,
    *,
    rating: str,
    cluster: str,
    source: str,
    codes: Sequence[str],
    variables: Sequence[str] = (),
    slopes: Sequence[str] = (),
    nested: str | None = None,
    crossed: Sequence[str] = (),
    rating_range: RatingRange = None,
    link: Link = "logit",
    overwrite: bool = False,
) -> Path:
    """Write an R script of an ordinal model with random slopes and crossed effects, and the data for it.

    `cumulative_mixed` fits random intercepts only. Where a code's link may differ between participants, or
    ratings also depend on something that crosses them (the topic, the system), R's `ordinal::clmm` fits it.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    units : DataFrame
        unit_id and the columns named here.
    path : str or Path
        Of the script, ending in .R. The data are written next to it, ending in .csv, and R writes its result
        there, ending in _estimates.csv.
    rating, cluster, rating_range
        As for `code_to_rating`. A rating of more than twelve levels is merged into about ten, as there.
    source : str
        Whose decisions: a coder, "majority" or "consensus".
    codes : sequence of str
        The codes in the model, all in one.
    variables : sequence of str
        Columns of numbers or truth values in the model.
    slopes : sequence of str
        Those of the codes and variables with an effect that varies between participants.
    nested : str, optional
        The column of the conversation, distinguished within its participant: a random intercept for each.
    crossed : sequence of str
        Columns with groups that several participants share: a random intercept for each group.
    link : {"logit", "probit"}
        As for `cumulative_mixed`.
    overwrite : bool
        Whether to replace existing files.

    Returns
    -------
    Path
        The script.

    Raises
    ------
    TableError
        A column is missing or holds something else than numbers, the source is unknown, a group has no label,
        or among the units used a code (with a slope: within participants), a variable or the rating does not
        vary.
    ArgumentError
        A code is unknown, or a slope is none of `codes` and `variables`; the path does not end in .R.
    StoreError
        A file exists already; nothing was written.

    Notes
    -----
    A unit that lacks the rating, a variable, or a decision on one of the codes is left out. Each unit is one
    row: coders are no random effect here, because each text would count once per coder; `code_to_rating`
    pools their estimates instead ("pooled"). The data hold numbers only: no texts, no ids of units, and
    participants and groups are numbered. The names of codes and variables are in the script.

    Each code is written less its participant's share of texts with it, and the share as a predictor of its
    own; what does not vary is left out. With one code and random intercepts for participants alone, the
    script so gives the odds ratios of `code_to_rating` (`odds_ratio` and `between_odds_ratio`). A slope of a
    code is one of its comparison within participants.

    With random intercepts for participants alone the script gives what `cumulative_mixed` gives of the same
    predictors (to four decimals, in the tests). With slopes or several groups R uses Laplace's approximation,
    and its standard errors do not count that variances are estimated: with few participants or groups, read
    them with care.

    References
    ----------
    Christensen (2022), ordinal: regression models for ordinal data, R package (clmm). Barr, Levy, Scheepers &
    Tily (2013), Random effects structure for confirmatory hypothesis testing, Journal of Memory and Language
    68, 255–278: why an effect that varies between participants needs its random slope.

    Examples
    --------
    >>> import tempfile
    >>> units = pd.DataFrame({"unit_id": list("abcdef"), "empathy": [5, 4, 3, 4, 2, 1],
    ...                       "case_id": ["p1", "p1", "p2", "p2", "p3", "p3"], "topic": list("xyzxyz")})
    >>> decisions = pd.DataFrame({"unit_id": list("abcdef"), "coder": "ana", "code": "warm",
    ...                           "applied": [True, False, True, True, False, False]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     script = r_script(decisions, units, f"{folder}/link.R", rating="empathy", cluster="case_id",
    ...                       source="ana", codes=["warm"], slopes=["warm"], crossed=["topic"])
    ...     [line for line in script.read_text("utf-8").splitlines() if "clmm(" in line][0]
    'model <- clmm(rating ~ x1 + s1 + (1 + x1 | participant) + (1 | group1),'
    """
    check_arguments(r_script, locals())
    path = Path(path)
    if path.suffix != ".R":
        raise ArgumentError(
            f"r_script: expected a path that ends in .R – found {path.name!r} – call it, say, link.R."
        )
    names = _Names(list(codes), list(variables), list(slopes), nested, list(crossed))
    names.check()
    decided = decided_by(decisions, units, source, function="r_script")
    rows = _rows(decided, units, names, rating, cluster, rating_range)
    written = {
        path.with_suffix(".csv"): rows.to_csv(index=False, lineterminator="\n"),
        path: names.script(path, link, line_of_source(decisions, source), rows),
    }
    for each in written:
        refuse_taken(each, overwrite=overwrite)
    for each, content in written.items():
        save(each, content.encode("utf-8", "replace"), overwrite=overwrite)
    return path


@dataclass(frozen=True, slots=True)
class _Names:
    """What is in the model, by the names of the study; R knows it by names that cannot break a script."""

    codes: list[str]
    variables: list[str]
    slopes: list[str]
    nested: str | None
    crossed: list[str]

    @property
    def predictors(self) -> dict[str, str]:
        """The name in R of each code and variable."""
        return {name: f"x{n}" for n, name in enumerate([*self.codes, *self.variables], start=1)}

    @property
    def shares(self) -> dict[str, str]:
        """The name in R of each code's share in a participant's texts."""
        return {code: self.predictors[code].replace("x", "s") for code in self.codes}

    @property
    def groups(self) -> dict[str, str]:
        """The name in R of each crossed column."""
        return {name: f"group{n}" for n, name in enumerate(self.crossed, start=1)}

    def check(self) -> None:
        """Refuse names that occur twice, and slopes of what is not in the model."""
        every = [*self.codes, *self.variables]
        twice = [name for name in every if every.count(name) > 1]
        if twice or not every:
            raise ArgumentError(
                "r_script: expected one or more codes and variables, each once – found "
                f"{f'{twice[0]!r} twice' if twice else 'none'} – name each once."
            )
        for name in self.slopes:
            if name not in every:
                raise ArgumentError(
                    f"r_script: expected slopes of codes and variables of the model – found {name!r} – "
                    f"{did_you_mean(name, every)}"
                )

    def script(self, path: Path, link: str, basis: str, rows: pd.DataFrame) -> str:
        """Return the script for the data `rows` next to `path`, which rest on decisions as `basis` says."""
        known = {name: short for name, short in self.predictors.items() if short in rows}
        shares = {code: short for code, short in self.shares.items() if short in rows}
        inner = " + ".join(["1", *(known[name] for name in dict.fromkeys(self.slopes))])
        terms = [*known.values(), *shares.values(), f"({inner} | participant)"]
        terms += ["(1 | conversation)"] if self.nested else []
        terms += [f"(1 | {group})" for group in self.groups.values()]
        groups = ["participant", *(["conversation"] if self.nested else []), *self.groups.values()]
        named = {short: name for name, short in known.items()}
        named |= {short: f"{code} (share of a participant's texts)" for code, short in shares.items()}
        labels = ", ".join(f"{short} = {_quoted(name)}" for short, name in named.items())
        df = ", ".join(str(_df(rows, short, is_code=named[short] in self.codes)) for short in named)
        return _SCRIPT.format(
            version=version("sense7_qual"),
            basis=" ".join(basis.split()),
            name=_quoted(path.name),
            data=_quoted(path.with_suffix(".csv").name),
            estimates=_quoted(f"{path.stem}_estimates.csv"),
            groups=f"c({', '.join(map(_quoted, groups))})",
            predictors=f"c({labels})",
            df=f"c({df})",
            formula=f"rating ~ {' + '.join(terms)}",
            link=link,
            nodes=10 if len(groups) + len(self.slopes) == 1 else 1,
        )


def _quoted(words: str) -> str:
    """Return words as a string of R: escapes are those of JSON, and no character ends a line."""
    return json.dumps(words.replace("\0", ""), ensure_ascii=False)


def _rows(
    decided: pd.DataFrame,
    units: pd.DataFrame,
    names: _Names,
    rating: str,
    cluster: str,
    rating_range: RatingRange,
) -> pd.DataFrame:
    """Return a row per complete unit: rating, participant, other groups and predictors, all numbers."""
    known = [str(code) for code in decided["code"].unique()]
    for code in names.codes:
        if code not in known:
            raise ArgumentError(
                f"r_script: expected codes of the decisions – found {code!r} – {did_you_mean(code, known)}"
            )
    units = checked_units(units, *names.variables, *names.crossed)
    rated = rated_units(decided, units, rating, cluster, names.nested, rating_range=rating_range)
    of_unit = units.set_index("unit_id").loc[rated["unit_id"]].reset_index()
    rows = pd.DataFrame({"rating": rated["rating"].array, "participant": rated["cluster"].array + 1})
    if names.nested:
        rows["conversation"] = (rated.groupby(["cluster", "nested"]).ngroup() + 1).array
    for column, short in names.groups.items():
        rows[short] = numbered(of_unit, column) + 1
    for name, short in names.predictors.items():
        if name in names.codes:
            own = decided[decided["code"] == name].set_index("unit_id")["applied"].astype("float64")
            rows[short] = own.reindex(rated["unit_id"]).array
        else:
            is_truth = pd.api.types.is_bool_dtype(of_unit[name])
            numbers = of_unit.astype({name: "float64"}) if is_truth else of_unit
            rows[short] = ratings_of(numbers, name, rating_range, is_rating=False)
    rows = rows.dropna()
    others = {name: short for name, short in names.predictors.items() if name not in names.codes}
    for name, short in {rating: "rating", **others}.items():
        _refuse_fewer(rows[short], 2, f"{name!r} to vary", "leave it out, or choose another")
    for name, short in {cluster: "participant", **names.groups}.items():
        _refuse_fewer(
            rows[short],
            3,
            f"three or more groups in {name!r}",
            "R's clmm needs three; of two, take a variable that is 0 and 1",
        )
    rows = _within_and_between(rows, names)
    rows = rows.sort_values([*rows.columns[1:], "rating"], ignore_index=True)
    merged = few_levels(rows["rating"].to_numpy())
    return rows.assign(rating=merged) if merged.max() < rows["rating"].nunique() else rows


def _within_and_between(rows: pd.DataFrame, names: _Names) -> pd.DataFrame:
    """Return the rows with each code less its participant's share, and the shares that differ."""
    rows = rows.copy()
    for code in names.codes:
        short = names.predictors[code]
        _refuse_fewer(rows[short], 2, f"{code!r} to vary", "leave it out, or choose another")
        share = rows.groupby("participant")[short].transform("mean")
        rows[short] = rows[short] - share
        if share.max() - share.min() > _NOTHING:
            rows[names.shares[code]] = share
        if rows[short].abs().max() <= _NOTHING:
            if code in names.slopes:
                remedy = "leave out its slope"
                _refuse_fewer(rows[short], 2, f"{code!r} to vary within participants", remedy)
            rows = rows.drop(columns=short)
    return rows


def _df(rows: pd.DataFrame, short: str, *, is_code: bool) -> int:
    """Return the degrees of freedom of a predictor: one less than the participants who inform it."""
    if not is_code and not short.startswith("s"):
        return int(rows["participant"].nunique()) - 1
    if is_code:
        return int(rows.loc[rows[short].abs() > _NOTHING, "participant"].nunique()) - 1
    share = rows.groupby("participant")[short].first()
    return int(min((share > _NOTHING).sum(), (share < 1 - _NOTHING).sum())) - 1


def _refuse_fewer(column: pd.Series, least: int, what: str, remedy: str) -> None:
    if column.nunique() < least:
        raise TableError(
            f"r_script: expected {what} among units with the rating and every predictor – found "
            f"{column.nunique()} in {len(column)} units – {remedy}."
        )
