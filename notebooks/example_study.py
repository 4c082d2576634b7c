"""The example studies of notebooks 02 to 07, synthetic throughout, and how the notebooks show frames."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML, Markdown

import sense7_qual as qual

DATA = Path(__file__).parent.parent / "data"
DIMENSIONS = ["Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational"]


def study(folder: str = "studies/example") -> qual.Store:
    """Open the study of notebook 01, or create it, with what the synthetic coders coded."""
    return _coded(folder, explanations(), "example_acts.jsonl")


def follow_up(folder: str = "studies/follow_up") -> qual.Store:
    """Open the study of the follow-up, or create it, with what the synthetic coders coded."""
    return _coded(folder, explanations("follow_up.csv"), "follow_up_acts.jsonl")


def _coded(folder: str, units: pd.DataFrame, acts_file: str) -> qual.Store:
    store = qual.Store.create(folder, units=units, codebook=qual.Codebook.read("sense7"), exist_ok=True)
    lines = (DATA / acts_file).read_text(encoding="utf-8").splitlines()
    acts = [qual.acts.Act(**json.loads(line)) for line in lines]
    for coder in ("ana", "ben", "chi", "lead"):
        store.append([act for act in acts if act.coder == coder])  # a second time this changes nothing
    return store


def model_study(folder: str = "studies/model_coder") -> qual.Store:
    """Open the study of notebook 07, or create it: one code, 24 texts that two coders have read."""
    book = qual.Codebook.read("sense7")
    book = replace(book, codes=(book["affective"],))
    example = study()
    decided = example.decisions()
    decided = decided[decided["code"] == "affective"]
    read = decided.groupby("unit_id")["applied"].agg(["mean", "size"])
    read = read[(read["size"] > 1) & (read["mean"] != 0.5)].reset_index()  # ties are nobody's standard
    units = example.units.merge(read, on="unit_id").dropna(subset=["EmpathyOverall", "case_id"])
    units = units.sort_values("mean", ascending=False, kind="stable").drop_duplicates("case_id")
    units = units.groupby("mean", sort=False).head(12).sort_values("unit_id", ignore_index=True)
    units = units[list(example.units)]
    store = qual.Store.create(folder, units=units, codebook=book, lead="lead", exist_ok=True)
    if store.acts(kind="finish"):
        return store
    theirs = decided[decided["unit_id"].isin(units["unit_id"])]
    for coder, rows in theirs.groupby("coder"):
        who = {"coder": coder, "codebook": book}
        coded = [
            qual.acts.apply(unit_id=each, code="affective", **who)
            for each in rows.loc[rows["applied"], "unit_id"]
        ]
        store.append([*coded, *(qual.acts.finish(unit_id=each, **who) for each in rows["unit_id"])])
    return store


def reflexive(folder: str = "studies/reflexive") -> qual.Store:
    """Open the study of notebook 06, or create it: one synthetic coder, who changed her codes as she read."""
    code, care = qual.codebook.Code, qual.codebook.Code(id="care", label="Taken care of", codable=False)
    seen = code(id="seen", label="Being seen", definition="It saw what the day was like.")
    noticed = code(id="noticed", label="Being noticed", definition="It took up a detail.")
    alone = code(id="alone", label="Left alone", definition="It did not help when help was asked for.")
    script = code(id="script", label="A script", definition="It says what it says to everybody.")
    first = qual.Codebook(name="seen", title="Being answered", codes=(seen, noticed, alone, script))
    store = qual.Store.create(folder, units=explanations().head(60), codebook=first, exist_ok=True)
    if store.acts():
        return store
    plan = qual.acts.contents.AnalysisPlan(
        question="What is it like to be answered by a machine?",
        coders=("mia",),
        codebook="open",
        with_agreement=False,
        answers={"design": "Reflexive thematic analysis."},
    )
    store.preregister(plan, coder="mia")
    _wrote(
        store, "I come to these texts as a nurse who was told to hurry. I may hear haste where there is none."
    )
    _read(store, range(25))
    _wrote(store, "Seen or noticed? I cannot tell them apart any more.", code="noticed")
    early = replace(script, definition="What it says to everybody, before it has listened.")
    under = [replace(seen, parent="care"), replace(alone, label="Left alone with it", parent="care")]
    for codes, why, merged in [
        ([seen, alone, script], "Each detail that was noticed was a way of being seen.", {"noticed": "seen"}),
        ([seen, alone, early], "What people mind is not the advice but how early it comes.", {}),
        ([care, *under, early], "Being seen and being left alone are two ends of being taken care of.", {}),
    ]:
        store.revise(replace(first, codes=tuple(codes)), why=why, coder="mia", merged=merged)
    _read(store, range(60))
    _wrote(
        store,
        "Nobody who felt seen wrote of advice. Is a script what is left when nobody looks?",
        code="script",
    )
    _wrote(store, "He thanks it, and I do not believe him.", unit_id=store.units["unit_id"][1])
    return store


def _read(store: qual.Store, rows: range) -> None:
    """Code and finish some texts as ana coded them in the example, with the current codes."""
    codes = {"affective": "seen", "cognitive": "noticed", "prosocial": "alone", "response": "script"}
    if "noticed" not in store.codebook:
        codes["cognitive"] = "seen"
    lines = (DATA / "example_acts.jsonl").read_text(encoding="utf-8").splitlines()
    hers = [qual.acts.Act(**json.loads(line)) for line in lines]
    ids, who = (
        list(store.units["unit_id"][rows.start : rows.stop]),
        {"coder": "mia", "codebook": store.codebook},
    )
    done = [
        qual.acts.apply(unit_id=act.unit_id, code=codes[act.code], start=act.start, end=act.end, **who)
        for act in hers
        if act.kind == "apply" and act.coder == "ana" and act.unit_id in ids and act.code in codes
    ]
    store.append([*done, *(qual.acts.finish(unit_id=each, **who) for each in ids)])


def _wrote(store: qual.Store, text: str, **on: str) -> None:
    kind = "code" if "code" in on else "unit" if on else "study"
    store.append([qual.acts.memo(text=text, target_kind=kind, coder="mia", codebook=store.codebook, **on)])


def explanations(file: str = "explanations.csv") -> pd.DataFrame:
    """Read the synthetic explanations, each column by its role."""
    return qual.corpus.read(
        DATA / file,
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        position="Position",
        context="Context",
        ratings=["EmpathyOverall", *DIMENSIONS],
    )


def shown(frame: pd.DataFrame, title: str, **heads: str) -> qual.report.Table:
    """Show columns of a frame under the given heads, without an index, numbers to the right."""
    numeric = [pd.api.types.is_numeric_dtype(frame[name]) for name in heads]
    rows = [tuple(map(_printed, row)) for row in frame[list(heads)].itertuples(index=False)]
    sides = tuple("right" if number else "left" for number in numeric)
    return qual.report.Table(title, tuple(heads.values()), tuple(rows), alignments=sides)


def _printed(value: Any) -> str:
    if pd.isna(value):
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def quoted(text: str) -> Markdown:
    """Show a text as a block quote."""
    return Markdown("\n".join(f"> {line}" for line in escape(text).splitlines()))


def found(links: pd.DataFrame, codebook: qual.Codebook) -> Markdown:
    """Say in one sentence which settled codes go with higher or lower ratings."""
    rows = links[links["source"] == "consensus"]
    clear = rows[rows["odds_ratio_p_adjusted"] < 0.05]
    parts = [
        f"texts with **{codebook[row.code].label}** are rated {'higher' if row.odds_ratio > 1 else 'lower'} "
        f"(odds ratio {row.odds_ratio:.1f}, 95% CI [{row.odds_ratio_low:.1f}, {row.odds_ratio_high:.1f}])"
        for row in clear.itertuples()
    ]
    said = "; ".join(parts) if parts else "no code has a clear link with the rating"
    return Markdown(
        f"Of what was settled, {said}. For the other {len(rows) - len(clear)} codes no link is clear."
    )


def cards(themes: qual.themes.Themes, store: qual.Store, against: pd.DataFrame, n: int = 8) -> HTML:
    """Show the largest themes as cards: label, size, whether stable and covered, two typical texts."""
    texts = qual.themes.typical(themes, store.units, n=2).groupby("theme")["text"].agg(list)
    rows = themes.summary.merge(against[["theme", "verdict", "best_code"]], on="theme")
    drawn = [_card(row, texts[row.theme], store.codebook) for row in rows.head(n).itertuples()]
    rest = f"<p>{len(rows) - n} smaller themes are in the widget below.</p>" if len(rows) > n else ""
    grid = "display: grid; grid-template-columns: repeat(auto-fill, minmax(17em, 1fr)); gap: .6em"
    return HTML(f'<div style="{grid}">{"".join(drawn)}</div>{rest}')


def _card(row: Any, texts: list[str], codebook: qual.Codebook) -> str:
    stable = "stable" if row.stability >= 0.75 else "not stable" if row.stability < 0.5 else "partly stable"
    if pd.isna(row.verdict):
        verdict = "too few participants for a verdict"
    elif row.verdict == "covered":
        verdict = f"covered by {escape(codebook[row.best_code].label)}"
    else:
        verdict = "not covered"
    short = [text if len(text) <= 110 else f"{text[:109].rsplit(' ', 1)[0]} …" for text in texts]
    quotes = "".join(f'<p style="margin: .4em 0 0">“{escape(text)}”</p>' for text in short)
    return (
        '<div style="border: 1px solid; border-radius: 4px; padding: .5em .7em">'
        f"<b>{escape(row.label)}</b><br>{row.n_units} texts · {stable} · {verdict}{quotes}</div>"
    )


def contents(written: Any) -> HTML:
    """Show what a paper folder holds as a list with heads."""
    kinds: dict[str, list[str]] = {"Texts": [], "Tables and figures": [], "Data": []}
    for shows, files in written.files.groupby("shows", sort=False)["file"]:
        names = dict.fromkeys(name.rpartition(".")[0] for name in files)
        suffixes = dict.fromkeys(name.rpartition(".")[2] for name in files)
        text = next(iter(names)).startswith(("methods", "results", "use_of_ai", "checklist"))
        kind = "Texts" if text else "Data" if len(files) == 1 else "Tables and figures"
        kinds[kind].append(
            f"<li>{escape(shows)}: <code>{', '.join(names)}</code> ({', '.join(suffixes)})</li>"
        )
    kinds["Left out"] = [
        f"<li>{escape(what)}: {escape(why)}</li>" for what, why in written.left_out.itertuples(index=False)
    ]
    lists = [f"<b>{kind}</b><ul>{''.join(lines)}</ul>" for kind, lines in kinds.items() if lines]
    return HTML("".join(lists))


def table_of(written: Any, name: str) -> HTML:
    """Show a table of a paper folder as it was written."""
    return HTML((written.path / f"{name}.html").read_text("utf-8"))
