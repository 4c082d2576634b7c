"""How often is a theme called different between conditions where nothing differs?

    python benchmarks/themes_null.py [--studies 300]

60 people write ten texts each about 12 topics. How readily a person writes about each topic differs from
person to person with a standard deviation of 1 logit. Half of the topics are codes of the codebook with a
definition and three examples each, and so is one topic of which there are no texts. `themes.fit` gets texts
and codebook, never the condition. The condition is of people (30 and 30, or 12 and 48), or of texts within
people. The control tests the same themes as if all texts were independent (chi-squared, as topic models with
covariates of documents do). A last row, in which one topic is 1 logit more frequent under the condition,
says what the test finds where something is. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from scipy import stats

from sense7_qual import themes
from sense7_qual.codebook import Code, Codebook

N_PEOPLE, N_TEXTS, N_TOPICS, N_DIMENSIONS = 60, 10, 12, 48
NOISE = 0.14
DESIGNS = [
    ("people, 30 and 30", 30, 0.0),
    ("people, 12 and 48", 12, 0.0),
    ("texts within people", 0, 0.0),
    ("people, 30 and 30, one topic differs", 30, 1.0),
]


def study(rng: np.random.Generator, n_first: int, effect: float) -> tuple[pd.DataFrame, dict, Codebook]:
    """Return units with topic and condition, the vector of each text, and the codebook."""
    centres = rng.normal(size=(N_TOPICS + 1, N_DIMENSIONS))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    who = np.repeat(np.arange(N_PEOPLE), N_TEXTS)
    of_people = rng.permutation(np.arange(N_PEOPLE) < n_first)
    condition = of_people[who] if n_first else rng.random(len(who)) < 0.5
    readily = rng.normal(size=N_TOPICS) * 0.5 + rng.normal(size=(N_PEOPLE, N_TOPICS))
    logits = readily[who].copy()
    logits[:, 0] += effect * condition
    chance = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    topic = (chance.cumsum(axis=1) > rng.random((len(who), 1))).argmax(axis=1)
    about = np.concatenate([topic, np.repeat(np.arange(0, N_TOPICS + 1, 2), 4)])
    vectors = centres[about] + NOISE * rng.normal(size=(len(about), N_DIMENSIONS))
    texts = [f"text {row}" for row in range(len(who))]
    codes, more = [], len(who)
    for place, code in enumerate(range(0, N_TOPICS + 1, 2)):
        words = [f"text {more + 4 * place + row}" for row in range(4)]
        codes.append(Code(id=f"topic{code}", label=words[0], examples=tuple(words[1:])))
    known = {f"text {row}": vector for row, vector in enumerate(vectors)}
    units = pd.DataFrame(
        {
            "unit_id": [f"u{row:03}" for row in range(len(who))],
            "text": texts,
            "document_id": who.astype(str),
            "case_id": [f"p{one:02}" for one in who],
            "position": np.tile(np.arange(N_TEXTS), N_PEOPLE),
            "condition": np.where(condition, "new", "old"),
            "topic": topic,
        }
    )
    return units, known, Codebook(name="half", codes=tuple(codes))


def tests(units: pd.DataFrame, known: dict, book: Codebook) -> pd.DataFrame:
    """Return a row per theme: p with participants, adjusted, p as if texts were independent, its topic."""
    found = themes.fit(
        units.drop(columns=["condition", "topic"]),
        codebook=book,
        granularity=1.0,
        n_resamples=0,
        embed=lambda texts: np.array([known[text] for text in texts]),
    )
    table = themes.spread(found, units, by="condition").groupby("theme").first()
    theme = found.assignments.set_index("unit_id")["theme"].loc[units["unit_id"]].to_numpy()
    condition = units["condition"].to_numpy()
    rows = []
    for number in table.index:
        counts = pd.crosstab(theme == number, condition)
        topic = units.loc[theme == number, "topic"].mode().iloc[0]
        rows.append(
            (
                table["p"][number],
                table["p_holm"][number],
                stats.chi2_contingency(counts, correction=False).pvalue,
                topic,
            )
        )
    result = pd.DataFrame(rows, columns=["p", "p_holm", "independent", "topic"])
    shown = found.codes.set_index("code")["shown"]
    return result.assign(n_shown=int(shown.iloc[:-1].sum()), decoy=bool(shown.iloc[-1]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    n_studies = parser.parse_args().studies
    columns = [
        "condition of",
        "themes a study",
        "called different, participants respected",
        "as if texts were independent",
        "studies with any, adjusted for all themes",
        "the topic that differs is found",
        "codes with texts that are shown",
        "code without texts",
    ]
    print("", *columns, "", sep=" | ")
    print("|---" * len(columns) + "|")
    for name, n_first, effect in DESIGNS:
        studies = [
            tests(*study(np.random.default_rng([seed, n_first]), n_first, effect))
            for seed in range(n_studies)
        ]
        null = pd.concat([one[one["topic"] != 0] if effect else one for one in studies])
        own = pd.concat([one[one["topic"] == 0].head(1) for one in studies])
        print(
            f"| {name} | {np.mean([len(one) for one in studies]):.1f} | {(null['p'] < 0.05).mean():.1%} | "
            f"{(null['independent'] < 0.05).mean():.1%} | "
            f"{np.mean([(one['p_holm'] < 0.05).any() for one in studies]):.1%} | "
            + (f"{(own['p'] < 0.05).mean():.0%}" if effect else "–")
            + f" | {np.mean([one['n_shown'].iloc[0] for one in studies]):.1f} of 6 | "
            f"shown in {np.mean([one['decoy'].iloc[0] for one in studies]):.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
