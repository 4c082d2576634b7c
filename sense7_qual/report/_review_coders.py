"""What a reviewer looks at in the coders: when they coded, who they are, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

import pandas as pd

from sense7_qual import agreement
from sense7_qual._present import coefficient, counted, percent
from sense7_qual.acts.contents import settings_of
from sense7_qual.report._review_facts import SIZE, Facts, Objection
from sense7_qual.rounds import assignments

_FEWEST: Final = 20
_FASTEST: Final = 1_000 / 60  # words in a second; reading takes 238 a minute (Brysbaert 2019)
_BREAK: Final = 600.0  # seconds after which a text was not all that was done
_SAME: Final = 0.9  # of the marked words
_NAMES_FROM: Final = 4  # letters of a name that may be mistyped


def _one_second(facts: Facts) -> Iterator[Objection]:
    found = []
    for coder, own in facts.by_hand.groupby("coder"):
        if len(own) >= _FEWEST and own["at"].dt.floor("s").value_counts().iloc[0] * 2 > len(own):
            found.append(str(coder))
    if found:
        yield Objection(
            kind="one_second",
            n=len(found),
            seen=f"Coders who finished half of their texts or more within the same second: {len(found)}.",
            why="These codings were made elsewhere, or by a program: the record does not show who decided "
            "when, or blind to what.",
            answer="Say where they come from; a model's codings belong to a coder called model-….",
        )


def _faster_than_reading(facts: Facts) -> Iterator[Objection]:
    n_words = facts.units.set_index("unit_id")["text"].map(lambda text: len(text.split()))
    found = []
    for coder, own in facts.by_hand.groupby("coder"):
        seconds = own["at"].diff().dt.total_seconds()
        words = own["unit_id"].map(n_words)[(seconds > 0) & (seconds < _BREAK)]
        pace = words / seconds[words.index]
        if len(pace) >= _FEWEST and pace.median() > _FASTEST:
            found.append(str(coder))
    if found:
        yield Objection(
            kind="faster_than_reading",
            n=len(found),
            seen=f"Coders who finished half of their texts at over 1,000 words a minute: {len(found)}.",
            why="People read some 240 words a minute (Brysbaert 2019): these texts were not read.",
            answer="Ask them how they coded; have some of their texts coded by someone else.",
        )


def _names_alike(facts: Facts) -> Iterator[Objection]:
    """Find two pseudonyms that may be one person's: they have no text in common, and differ by a letter."""
    texts = {str(coder): set(own) for coder, own in facts.decisions.groupby("coder")["unit_id"]}
    pairs = [
        (one, other)
        for one, other in combinations(facts.coders, 2)
        if not texts[one] & texts[other] and _may_be_mistyped(one, other)
    ]
    if pairs:
        yield Objection(
            kind="coder_names_alike",
            n=len(pairs),
            seen="Coders with no text in common have nearly the same name: "
            + "; ".join(" and ".join(pair) for pair in pairs[:3])
            + ".",
            why="One person under two names counts as two coders.",
            answer="Ask who they are; if they are one person, import their codings under one name.",
        )


def _may_be_mistyped(one: str, other: str) -> bool:
    """Return True if two names are one but for case and signs, or but for one letter (no digit)."""
    plain = ["".join(sign for sign in name.casefold() if sign.isalnum()) for name in (one, other)]
    if plain[0] == plain[1]:
        return True
    short, long = sorted(plain, key=len)
    if len(short) < _NAMES_FROM or len(long) - len(short) > 1:
        return False
    at = next((place for place, sign in enumerate(short) if sign != long[place]), len(short))
    same_rest = long[at + 1 :] == short[at + (len(short) == len(long)) :]
    return same_rest and not (long[at] + short[at : at + 1]).isdigit()


def _copied(facts: Facts) -> Iterator[Objection]:
    """Find two coders who marked the same letters, or who never differ where others do."""
    pairs = list(combinations(facts.coders, 2))
    apart = {pair: facts.apart(*pair) for pair in pairs}
    found = []
    for pair in pairs:
        same, either = facts.same_words(*pair)
        differ, n = apart[pair]
        others = [each for other, each in apart.items() if other != pair]
        rate = sum(each[0] for each in others) / max(sum(each[1] for each in others), 1)
        alike = differ == 0 and n >= _FEWEST and (1 - rate) ** n * len(pairs) < SIZE
        if alike or (either >= _FEWEST and same >= _SAME * either):
            found.append(" and ".join(pair))
    if found:
        yield Objection(
            kind="copied",
            n=len(found),
            seen=f"Codings are identical, to the letter or in every decision: {'; '.join(found[:3])}.",
            why="People who code independently do not mark the same letters, and differ where others do.",
            answer="Ask how they were made; have the texts coded again, blind, and report that agreement.",
        )


def _not_random(facts: Facts) -> Iterator[Objection]:
    """Compare the texts that several coded with the rest: conditions, rating, length, participants."""
    coded, rating = facts.coded, facts.linked[0]
    both = coded["unit_id"].isin(facts.double)
    if min(both.sum(), (~both).sum()) < _FEWEST or any(plan.weights for _, plan in assignments(facts.acts)):
        return  # drawn by weights, which the analysis knows
    tried = {name: facts.differs(both, coded[name]) for name in facts.conditions}
    tried["the length of texts"] = facts.shifted(both, coded["text"].str.len())
    if rating in coded and pd.api.types.is_numeric_dtype(coded[rating].dtype):
        tried[str(rating)] = facts.shifted(both, coded[rating])
    tried["the number of participants"] = facts.fewer_participants(both)
    found = [name for name, p in tried.items() if p * len(tried) < SIZE]
    if found:
        yield Objection(
            kind="overlap_not_random",
            n=len(found),
            seen=f"Texts that several coded differ from those of one coder in {', '.join(found[:3])}.",
            why="Agreement on them says nothing about texts that differ from them.",
            answer="Draw the texts that several code at random (store.assign(…, overlap=…)).",
        )


def _training_counted(facts: Facts) -> Iterator[Objection]:
    trained = {unit for one in facts.rounds if one.is_training for unit in one.units} & facts.double
    if trained:
        yield Objection(
            kind="training_counted",
            n=len(trained),
            seen=f"Texts used both to train coders and to compute agreement: {len(trained):,}.",
            why="Coders were told the right decisions on these texts.",
            answer="Leave these texts out of agreement, and code others instead.",
        )


def _one_side(facts: Facts) -> Iterator[Objection]:
    """Find a coder whose side every ruling took, more often than all coders' sides were taken."""
    rulings = {
        (str(act.unit_id), str(act.code)): act.applied for act in facts.rulings if act.applied is not None
    }
    keys = pd.MultiIndex.from_frame(facts.decisions[["unit_id", "code"]])
    rows, keys = facts.decisions[keys.isin(list(rulings))], keys[keys.isin(list(rulings))]
    if rows.empty:
        return
    won = rows["applied"].to_numpy() == [rulings[key] for key in keys]
    each = pd.Series(won).groupby(rows["coder"].to_numpy()).agg(["mean", "size"])
    found = each.index[(each["mean"] == 1) & (won.mean() ** each["size"] * len(each) < SIZE)]
    if len(found):
        yield Objection(
            kind="one_side",
            n=int(each.loc[found[0], "size"]),
            seen=f"All {each.loc[found[0], 'size']:,} rulings on decisions of {found[0]} took their side.",
            why="A consensus that repeats one coder’s codings does not check them.",
            answer="Have the texts ruled on by someone who does not see who decided what.",
        )


ON_CODERS: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _one_second,
    _faster_than_reading,
    _names_alike,
)
ON_OVERLAP: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _copied,
    _not_random,
    _training_counted,
    _one_side,
)


_LEAST_SHARE: Final = 0.1  # O'Connor & Joffe (2020): 10 to 25 % of the units
_TENTATIVE: Final = 0.667  # Krippendorff (2004, p. 241)
_WIDE: Final = 0.4


def _one_coder(facts: Facts) -> Iterator[Objection]:
    if len(facts.coders) == 1:
        yield Objection(
            kind="one_coder",
            n=1,
            seen="A single coder decided on the texts.",
            why="Nothing shows whether someone else would code them the same way.",
            answer="Have a random part coded by a second person, blind; or argue without agreement "
            "(with_agreement=False), as reflexive thematic analysis does.",
        )


def _overlap(facts: Facts) -> Iterator[Objection]:
    n, total = len(facts.double), facts.decisions["unit_id"].nunique()
    if len(facts.coders) > 1 and n < _LEAST_SHARE * total:
        yield Objection(
            kind="overlap_small",
            n=n,
            seen=f"{n:,} of {total:,} coded texts ({percent(n / total)}%) were coded by two or more, "
            "independently of suggestions.",
            why="Agreement on so few says little about the rest; 10 to 25% is usual (O'Connor & Joffe 2020).",
            answer="Assign more texts to two coders, at random (store.assign(…, overlap=0.2)).",
        )


def _wide(facts: Facts) -> Iterator[Objection]:
    if not facts.double:
        return
    rows = facts.alphas
    wide = rows[(rows["alpha_high"] - rows["alpha_low"]) > _WIDE]
    if len(wide) * 2 > len(rows):
        codes = wide["code"].tolist()
        yield Objection(
            kind="wide_intervals",
            n=len(codes),
            seen=f"Alpha's 95% CI is wider than {coefficient(_WIDE, 2)} for {facts.labels(codes)}.",
            why="Agreement may be good or poor: the overlap is too small to tell.",
            answer="Code more texts twice; agreement.sequential gives the number.",
        )


def _low(facts: Facts) -> Iterator[Objection]:
    if not facts.double:
        return
    rows = facts.alphas
    low = rows[rows["alpha"] < _TENTATIVE]
    if len(low):
        codes, worst = low["code"].tolist(), coefficient(low["alpha"].min(), 2)
        yield Objection(
            kind="low_agreement",
            n=len(codes),
            seen=f"Alpha is below .667 for {facts.labels(codes)} (lowest {worst}).",
            why="Below .667 a code supports not even tentative conclusions (Krippendorff 2004, p. 241).",
            answer="Sharpen its rules and code fresh texts; or report it without conclusions; "
            "agreement.by_code gives the numbers behind it.",
        )


def _pair(facts: Facts) -> Iterator[Objection]:
    """Find codes that pass for all coders together while a pair of them does not agree."""
    if len(facts.coders) < 3 or not facts.double:
        return
    rows = facts.alphas
    passing = set(rows.loc[rows["alpha"] >= _TENTATIVE, "code"])
    pairs = agreement.pairwise(facts.independent)
    poor = pairs[pairs["code"].isin(passing) & (pairs["n_units"] >= _FEWEST) & (pairs["alpha"] < _TENTATIVE)]
    if len(poor):
        codes = list(dict.fromkeys(poor["code"]))
        yield Objection(
            kind="pooled_coders",
            n=len(poor),
            seen=f"{counted(len(poor), 'pair of coders has an alpha', 'pairs of coders have an alpha')}"
            f" below .667 on {facts.labels(codes)}, though all coders "
            "together reach it.",
            why="A coefficient over all coders hides one who reads a code differently.",
            answer="Report pairs (agreement.pairwise), and talk with the coder who differs.",
        )


def _used_by_one(facts: Facts) -> Iterator[Objection]:
    """Find codes that one coder applies and another, on as many texts of theirs, never does."""
    by_one = []
    for code, own in facts.decisions.groupby("code", sort=False):
        counts = own.groupby("coder")["applied"].agg(["sum", "size"])
        enough = counts[counts["size"] >= _FEWEST]
        share = enough["sum"] / enough["size"]
        if len(enough) > 1 and (share == 0).any() and share.max() >= 0.2:
            by_one.append(str(code))
    if by_one:
        yield Objection(
            kind="used_by_one",
            n=len(by_one),
            seen=f"{facts.labels(by_one)}: one coder applies it to a fifth of their texts, another never.",
            why="The code then depends on who coded, and so does everything it is linked to.",
            answer="Settle what it means (CodebookWidget), and have the texts reviewed.",
        )


def _unsettled(facts: Facts) -> Iterator[Objection]:
    n = facts.n_unsettled
    if n:
        yield Objection(
            kind="unsettled",
            n=n,
            seen=f"Of {counted(len(facts.disagreements), 'disagreement')}, {n:,} {'is' if n == 1 else 'are'} "
            "not settled.",
            why="What is counted for these texts depends on which coder one follows; a paper must say which.",
            answer="Settle them (AdjudicationWidget), leaving readings that are both right as they are.",
        )


def _ruled_own(facts: Facts) -> Iterator[Objection]:
    own = set(facts.decisions[["unit_id", "coder"]].drop_duplicates().itertuples(index=False, name=None))
    n = sum((str(act.unit_id), act.coder) in own for act in facts.rulings)
    if n:
        yield Objection(
            kind="ruled_own",
            n=n,
            seen=f"{counted(n, 'ruling was', 'rulings were')} made by someone who had coded the text.",
            why="A party to a disagreement should not be the one who settles it.",
            answer="Have someone else look at them, or settle them in a discussion and say so.",
        )


ON_AGREEMENT: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _one_coder,
    _overlap,
    _wide,
    _low,
    _pair,
    _used_by_one,
    _unsettled,
    _ruled_own,
)


def _model_not_described(facts: Facts) -> Iterator[Objection]:
    described = {act.coder for act in facts.described}
    lacking = [name for name in sorted(facts.by_models["coder"].unique()) if name not in described]
    if lacking:
        yield Objection(
            kind="model_not_described",
            n=len(lacking),
            seen=f"How {', '.join(lacking[:3])} was asked is not on record: no model, prompt or settings.",
            why="Nobody can repeat what a model coded without knowing which model was asked what.",
            answer="Record the run of coders.code (store.record_model); or state it in the paper.",
        )


def _model_not_measured(facts: Facts) -> Iterator[Objection]:
    """Find models that people's own codings measure on too few participants, code by code."""
    by_people = facts.independent.query("applied").merge(facts.units[["unit_id", "case_id"]], on="unit_id")
    for name, own in facts.by_models.groupby("coder"):
        both = by_people.merge(own[["unit_id", "code"]], on=["unit_id", "code"])
        n_cases = both.groupby("code")["case_id"].nunique()
        codes = [str(code) for code in own["code"].unique() if n_cases.get(code, 0) < _LEAST_MEASURED]
        if codes:
            yield Objection(
                kind="model_not_measured",
                n=len(codes),
                seen=f"People applied {facts.labels(codes)} to texts of fewer than {_LEAST_MEASURED} "
                f"participants that {name} coded, too, without having seen suggestions.",
                why="How often the model errs on these codes is unknown, and its codes cannot be relied on.",
                answer="Have people code a random sample of its texts (corpus.hand_sample), and report "
                "agreement.diagnosis.model_card.",
            )


def _model_missing(facts: Facts) -> Iterator[Objection]:
    for act in facts.described:
        settings = settings_of(act)
        lost = sum((settings.get("missing") or {}).values())
        n = (settings.get("n_texts") or 0) * len(settings.get("prompts") or {})
        if lost > _MOST_MISSING * n:
            yield Objection(
                kind="model_missing",
                n=lost,
                seen=f"{act.coder} gave no decision in {lost:,} of {n:,} answers ({percent(lost / n)}%).",
                why="Texts that a model cannot decide on differ from others, so its codes are not those of "
                "all texts.",
                answer="Say why they are missing and for whom (agreement.diagnosis.model_card with by=…).",
            )


_LEAST_MEASURED: Final = 10  # participants, as agreement.diagnosis.model_words has it
_MOST_MISSING: Final = 0.1
ON_MODELS: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _model_not_described,
    _model_not_measured,
    _model_missing,
)
