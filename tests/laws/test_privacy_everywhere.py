"""Privacy over everything that is public, by reflection: what is added later is looked at too."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sense7_qual as qual
from tests.helpers.browser import new_id
from tests.helpers.modules import public_names
from tests.helpers.private_words import CANARY, PURE_PATH, SAID, said_by_a_child

# Every example of every docstring, and then what the examples leave out; which public functions are entered.
EVERYTHING = """
import contextlib, dataclasses, doctest, inspect, io, logging, sys, traceback, types, warnings
import pandas as pd

warnings.simplefilter("ignore")
SAID = "my zqcanary brother left me"
NAMES, CALLS, SEEN = set(), {}, set()
exec(compile("def noting(*arguments, **named): return 'noted'(arguments, named)", "noting", "exec"))

def note(name, value):
    # Its code gives way to one that notes the call and goes on: `sys.settrace` takes as long as they do.
    for step in ("fget", "__func__", "func", "__wrapped__"):
        value = getattr(value, step, value)
    if not isinstance(value, types.FunctionType) or value.__code__.co_name == "noting":
        return
    NAMES.add(name)
    signature, old = inspect.signature(value), value.__code__
    function = types.FunctionType(old, value.__globals__, old.co_name, value.__defaults__, value.__closure__)
    function.__kwdefaults__ = value.__kwdefaults__

    def noted(arguments, named):
        SEEN.add(name)
        if len(CALLS.get(name, ())) < 2:
            with contextlib.suppress(TypeError):  # the function itself will say what does not fit
                bound = signature.bind(*arguments, **named)
                bound.apply_defaults()
                CALLS.setdefault(name, []).append(dict(bound.arguments))
        return function(*arguments, **named)

    value.__signature__ = signature
    consts = tuple(noted if one == "noted" else one for one in noting.__code__.co_consts)
    value.__code__ = noting.__code__.replace(co_consts=consts, co_freevars=old.co_freevars)

from scripts.measure_house import circles

for name, (_, module) in circles().items():
    if module == "models":
        continue
    value = getattr(importlib.import_module(f"sense7_qual.{module}"), name.rpartition(".")[2])
    note(name, value)
    for method, inner in (vars(value).items() if inspect.isclass(value) else ()):
        if not method.startswith("_"):
            note(f"{name}.{method}", inner)

def examples():
    failed = []
    for module in list(pkgutil.walk_packages(qual.__path__, "sense7_qual.")):
        if module.name.startswith("sense7_qual.models") or module.name in servers:
            continue
        for test in doctest.DocTestFinder().find(importlib.import_module(module.name), module.name):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                found = doctest.DocTestRunner(verbose=False).run(test, out=said.write)
            failed += [test.name] * found.failed
    return failed

FAILED = examples()
CALLED = list(CALLS.items())
"""

THE_REST = """
first = units["unit_id"].iloc[0]
mark = qual.acts.apply(coder="ana", unit_id=first, code=code, codebook=codebook, start=0, end=2)
store.append([
    mark, qual.acts.memo(coder="ana", text="a memo", codebook=codebook, unit_id=first),
    qual.acts.undo(mark, codebook=codebook), qual.acts.redo(mark, codebook=codebook),
    qual.acts.remove(coder="ana", unit_id=first, code=code, codebook=codebook, start=0, end=2),
    qual.acts.reopen(coder="ana", unit_id=first, codebook=codebook),
])
span = {"target_kind": "span", "unit_id": first, "start": 0, "end": 2}
note = qual.acts.memo(coder="ana", text="a memo", codebook=codebook, **span)
assert qual.acts.contents.SpanMemo.from_text(note.text).to_text() == note.text and note.memo_text == "a memo"
assert mark.facet_values == codebook.check_facets(code, {}) == {}
heat = qual.codebook.Facet(name="heat", values=(qual.codebook.FacetValue("low"),))
faceted = dataclasses.replace(codebook, facets=(heat,))
assert faceted.facet("heat") in faceted.facets_of(code) and heat.names == ("low",)
changed = dataclasses.replace(
    codebook, codes=(dataclasses.replace(codebook.codes[0], definition="Another one."), *codebook.codes[1:])
)
store.revise(changed, why="clearer", coder="lead")
(revision,) = store.revisions
made, now = codebook.fingerprint, changed.fingerprint
type(revision).from_text(revision.to_text(), coder="lead", at=revision.at, codebook=revision.codebook)
assert qual.codebook.path(store.revisions, made, now)
for carry in (qual.codings.stale, qual.codings.carried):
    carry(store.codings(), store.coverage(), changed, revisions=store.revisions)
qual.rounds.progress(qual.rounds.opened(store.acts()), store.coverage())
qual.corpus.Limits().beyond("rows", name="a.csv", of="rows", remedy="split it")
store.decisions(settled_by="rulings")
store.codebooks, store.units, store.memos(), store.codings(), store.coverage()
qual.Store.create(store.path, units=store.units, codebook=changed, exist_ok=True)
store.copies.backup(folder + "-copy")
store.copies.archive(folder + ".zip")
qual.Store.restore(folder + ".zip", folder + "-restored")
store.copies.bundle(folder + "-bundle", texts="withheld", formats=["csv"],
             analysis_plan=qual.acts.contents.AnalysisPlan(question="Why?", n_boot=5, settled_by="majority"))
store.copies.merge(folder + "-copy")
store.verify()
blind = {"units": [first], "coders": ["dee"], "coder": "chair", "codebook": changed}
store.append([qual.rounds.open_round("blind", **blind)])
store.rounds[-1].gold_decisions
store.assign(coders=["ana", "ben"], overlap=0.5, seed=7, coder="chair")
((_, assignment),) = qual.rounds.assignments(store.acts())
qual.rounds.planned(store.acts(), units=set(units["unit_id"])), assignment.to_text(), store.plan
assert store.desk.current_codebook() == changed.fingerprint
assert store.desk.use_current_codebook() == changed
assert store.desk.may_revise
store.desk.keep_draft("codebook", {"words": units["text"].iloc[0]}, coder="lead")
assert store.desk.draft("codebook", coder="lead")
hope = qual.acts.propose(coder="ana", label="Hope", unit_id=first, codebook=changed)
proposal = qual.acts.contents.Proposal.from_text(hope.text)
assert qual.acts.words_written(proposal.to_text())
store.append([hope])
assert store.proposals()["label"].tolist() == ["Hope"]
store.append([qual.acts.answer(coder="chair", proposal=hope.act_id, text="It went in.", codebook=changed)])
span = qual.acts.apply(coder="cat", unit_id=first, code=code, start=0, end=5, codebook=changed)
away, again = qual.acts.moved(span, start=1, end=6, codebook=changed)
assert qual.acts.overlap(span, again)
store.append([span, *qual.acts.in_one_step([away, again])])
assert qual.codebook.redefined(changed, changed) == []
coded = qual.coders.code(store.units.head(2), changed, coder="model-x",
                         chat=lambda messages: '{"quote": "", "verdict": "no", "why": ""}')
coded.acts(changed), coded.as_suggester(), coded.codings, coded.decisions, coded.refused
coded.write(folder + ".run.jsonl")
assert qual.coders.read(folder + ".run.jsonl").card == coded.card
asking = qual.coders.Asking(store.units.head(2), changed, coder="model-x")
asking.take(asking)
store.record_model(coded, coder="chair")
assert store.set_options(new_codes="add", coder="chair") == store.options
seen = {"coder": "ana", "unit_id": first, "codebook": changed}
suggested = [qual.acts.contents.Suggestion(code=code, probability=0.5, start=0, end=2)]
showing = qual.acts.contents.show_suggestions(**seen, model="words", suggestions=suggested)
assert qual.acts.contents.Suggested.from_text(showing.text).to_text() == showing.text
store.append([showing, qual.acts.contents.reject_suggestion(**seen, code=code)])
assert qual.suggestions.shown(store.acts()).all() and len(qual.suggestions.answers(store.acts())) == 1
assert qual.rounds.independent([*store.acts(), qual.acts.finish(**seen)], store.rounds).later
ruling = qual.acts.rule(coder="lead", unit_id=first, code=code, applied=True, reason="slip", note="a note",
                        codebook=changed)
store.append([ruling])
assert [act.reason for act in store.rulings()] == ["slip"]
printing = qual.acts.quote(coder="lead", unit_id=first, code=code, state="approved", codebook=changed,
                           paraphrase="In words of their own.")
store.append([printing])
assert store.quotes()["state"].tolist() == [qual.acts.quote_decision(printing.facets).state]
store.append([qual.rounds.unblind("blind", coder="chair", codebook=changed)])
store.append([qual.rounds.open_round("talk", **blind, discusses="blind")])
qual.rounds.own_codings(store.acts(), store.rounds[-1], coder="dee", codebook=changed)
widget = qual.widgets.CodingWidget(store, coder="ana")
assert "notice" in dir(widget) and widget.notice is not None
widget.goto(widget._session.unit_ids[-1])
widget.memos()
widget.close()
revising = qual.widgets.CodebookWidget(store, coder="lead", without_round=True)
assert revising.draft == changed
revising.close()
qual.widgets.AdjudicationWidget(store, coder="lead", without_round=True).close()
qual.widgets.QuotesWidget(store, coder="lead", without_round=True).close()
overview = qual.widgets.OverviewWidget(store, coder="chair", without_round=True)
overview._count_all()
overview.close()
reading = qual.widgets.ThemesWidget(store, coder="chair", without_round=True)
assert reading.selected == ()
reading.close()
run = {"unit_id": [first], "theme": 0, "similarity": 0.5, "coarse": 0, "sub": 0}
one = {"theme": [0], "stability": 0.8, "dissolved": 0.1, "recovered": 0.7}
level = {"level": ["theme"], "group": 0, "stability": 0.8}
themes = qual.themes.Themes(
    assignments=pd.DataFrame(run), summary=pd.DataFrame(one), hierarchy=pd.DataFrame(level), parameters={},
    terms=pd.DataFrame(), quotes=pd.DataFrame())
store.record_themes(themes, coder="chair")
store.edit_theme(0, name="Kindness", coder="chair")
assert store.themes.summary["label"].tolist() == ["Kindness"]
def decide():
    pass
assert "coder" in qual.frames.DECISIONS.described() and qual.frames.DECISIONS.returns(decide) is decide
planned = qual.acts.contents.AnalysisPlan(question="Why?", coders=("ana",), answers={"sampling": "all"})
(registered,) = [store.preregister(planned, coder="chair")]
assert store.preregistrations == (registered,) == qual.acts.preregistrations(store.acts())
assert qual.acts.contents.AnalysisPlan.from_text(planned.to_text()).fingerprint == planned.fingerprint
assert planned.settled and "registered_late" in qual.report.deviations(store).frame["kind"].tolist()
assert qual.report.deviations(store).table.rows and len(qual.report.tables.preregistration(store).rows) == 16
written = qual.report.paper(store, None, folder + "-paper", settled_by="rulings", formats=["csv"])
assert len(written.table.rows) > 3 and len(written.files) > 3
qual.exchange.export(store, folder + ".xlsx")
losses = qual.exchange.write_project(store, folder + ".qdpx")
project = qual.exchange.read_project(folder + ".qdpx")
store.assign(coders=["ana"], overlap=1.0, coder="lead")
for sheet in qual.exchange.write_coding_sheets(store, folder + "-sheets"):
    qual.exchange.read_coding_sheets(store, sheet)
found = qual.exchange.match(store, project)
assert len(project.decisions()) and len(project.codings) and len(losses.frame) == len(losses)
store.copies.hand_out("blind", "dee", folder + "-dee")
qual.Store(folder + "-dee").copies.hand_in(folder + "-back.zip")
assert qual.store.handed_in(pathlib.Path(folder + "-back.zip"))
answers = qual.report.open_answers(store)
assert qual.report.listed(answers) in str(qual.report.ask_in_call("report", answers))
store.admin.salvage("ana", folder + "-saved.sqlite")
store.admin.accept_loss("ana")
try:
    store.admin.add_coder("cat")
except qual.StoreError:  # a folder needs nobody to be added
    pass
try:
    store.admin.end_coder("ana")
except qual.StoreError:  # nor does anybody sign in there
    pass
store.forget(units["case_id"].iloc[0], why="asked to")
wide = pd.DataFrame({"u": ["m1", "m1"], "c": ["ana", "ben"], "warm": [1, 0]})
qual.codings.from_table(wide, unit_id="u", coder="c", codes=["warm"])
figure = qual.figures.agreement_plot(by_code)
figure.svg(), figure.png(), figure.pdf(), figure.chart, figure.write(folder + ".svg")
table = qual.report.tables.reliability(by_code)
reviewed = qual.report.review(store, n_boot=5)
assert len(reviewed.frame) == len(reviewed) == len(reviewed.table.rows)
chosen = {"settled_by": "rulings", "n_boot": 5}
written = qual.report.methods(store, **chosen), qual.report.results(store, **chosen)
for text in (*written, qual.report.ai_statement(store)):
    text.latex(), text.frame, text.markdown(), text.html(), text.csv()
    assert len(list(text.sentences)) == sum(len(one.sentences) for one in text.paragraphs)
text.write(folder + ".txt")
qual.report.checklist(store, "coreq", **chosen)
table.latex(), table.html(), table.csv(), table.frame
changed.write(folder + ".yaml"), table.write(folder + ".docx"), table.write(folder + ".md")
spans = pd.DataFrame({"unit_id": "t", "coder": ["a", "b"], "code": "x", "start": [0, 2], "end": [5, 6]})
qual.agreement.spans.gamma(spans, {"t": 40}, seed=7, n_samples=2)
qual.widgets.CodingWidget(plan["ana"], codebook, coder="ana", acts=[], save=store.append).close()
left = sorted(NAMES - SEEN)
print(json.dumps({"tried": TRIED, "failed": FAILED, "left": left, "n": len(SEEN)}))
"""
# Each call of an example again, one column or list of its tables at a time filled with a participant's words.
POISONED = """
# Tables that this package computed of others: of numbers, codes and ids. Nobody's words get there.
COMPUTED = {
    "agreement", "by_dimension", "by_unit", "card", "comparison", "disruption", "distributions", "joint",
    "linked", "links", "missing",
    "multiverse", "over_time", "pairwise", "posterior", "power", "predictions", "shares",
}
KEPT = {"unit_id", "coder", "code", "document_id", "case_id", "act_id", "memo_id", "round", "codebook",
        "wording"}
FEWER = {"n_boot": 10, "n_simulations": 10, "n_resamples": 2, "n_samples": 2, "progress": False}
kept = io.StringIO()
logging.basicConfig(level=logging.DEBUG, stream=kept, force=True)
warnings.simplefilter("always")
leaks, raised, tried = [], 0, 0

def poisoned(arguments):
    for name, value in arguments.items():
        if name in COMPUTED:
            continue
        if isinstance(value, pd.DataFrame) and len(value):
            for column in value.columns:
                if column not in KEPT and isinstance(column, str):
                    yield f"{name}.{column}", arguments | {name: value.assign(**{column: SAID})}
        elif isinstance(value, pd.Series) and len(value):
            yield name, arguments | {name: pd.Series(SAID, index=value.index, name=value.name)}

def call(name, where, function, arguments):
    global raised
    said, shown = io.StringIO(), ""
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(said), \\
            contextlib.redirect_stderr(said):
        warnings.simplefilter("always")
        try:
            function(**arguments)
        except Exception as error:
            raised += 1
            shown = "".join(traceback.format_exception(error))
    shown += said.getvalue() + "".join(str(warning.message) for warning in warned)
    if "zqcanary" in shown or "zqcanary" in kept.getvalue():
        leaks.append(f"{name}({where})")
    kept.seek(0)
    kept.truncate()

def public(name):
    value = qual
    for part in name.split("."):
        value = getattr(value, part, None) or importlib.import_module(f"sense7_qual.{part}")
    return value

for name, calls in CALLED:
    function = None if name.split(".")[-2][0].isupper() else public(name)  # no methods
    if not inspect.isfunction(function) or name in ("themes.fit", "agreement.spans.gamma"):
        continue
    for arguments in calls[:1]:
        arguments |= {key: value for key, value in FEWER.items() if key in arguments}
        for where, changed in poisoned(arguments):
            tried += 1
            call(name, where, function, changed)
print(json.dumps({"leaks": leaks, "raised": raised, "tried": tried}))
"""


Child = list[dict[str, object]]


@pytest.fixture(scope="module")
def child() -> Child:
    """What a process says that calls everything: of the calls, and of what the poisoned ones showed."""
    # pygamma-agreement compiles for ten seconds what is called here twice
    said = said_by_a_child(PURE_PATH + EVERYTHING + THE_REST + POISONED, NUMBA_DISABLE_JIT="1")
    return [json.loads(line) for line in said[-2:]]


@pytest.mark.nightly
@pytest.mark.model
def test_every_public_function_but_the_models_is_called_with_sockets_forbidden(
    child: Child,
) -> None:
    """All the examples, the path from file to table, and the rest by hand; no name is left out."""
    found = child[0]
    assert found["failed"] == []
    assert found["tried"] == []
    assert found["left"] == []
    assert int(str(found["n"])) > 150


@pytest.mark.nightly
@pytest.mark.model
def test_no_words_in_what_any_function_says_of_a_table_that_holds_them(
    child: Child,
) -> None:
    """Every function that is given people's tables, in each column in turn, where it fails and where not."""
    found = child[1]
    assert found["leaks"] == []
    assert int(str(found["tried"])) > 100
    assert int(str(found["raised"])) > 50


def dataclasses_of_the_package() -> Iterator[type]:
    for module in pkgutil.walk_packages(qual.__path__, "sense7_qual."):
        there = importlib.import_module(module.name)
        for name in public_names(there):
            value = getattr(there, name)
            if inspect.isclass(value) and value.__module__ == module.name and dataclasses.is_dataclass(value):
                yield value


# Fields of ids, codes, settings and computed numbers. What may hold words is not to be shown, nor added here.
SHOWN = {
    "AlternativeAnnotatorTest": {"results", "humans"},
    "Analysis": {"row", "odds"},
    "Kind": {"text"},
    "Coded": {"categories", "codes"},
    "Content": {"check", "stand_in"},
    "Continuum": {"text"},
    "OrdinalRegression": {"text"},
    "SetPatterns": {"sets"},
    "Contract": {"columns", "missing_in_key"},
    "Copy": {"heads"},
    "CumulativeModel": {"coefficients", "moves", "standard_errors", "p_values", "thresholds", "covariance"},
    "Endpoint": {"parameters"},
    "Inventory": {"values", "categories", "coders", "given"},
    "Known": {"codebooks", "withdrawn", "copies"},
    "Pairs": {"codes", "units", "coders"},
    "Patterns": {"categories"},
    "Preview": {"by_code", "by_coder"},
    "Settings": {"options"},
    "Split": {"sources"},
    "State": {"merged", "reserved", "split", "taken", "used"},
    "TrueCodes": {"posterior", "draws", "coders", "prevalence", "fits", "residuals"},
    "UnitCounts": {"codes", "units"},
    "UnitizingAlphas": {"ku_alpha"},
    "WideAlpha": {"categories"},
    "Wish": {"merged", "revisions", "split"},
}
HOLDERS = (
    "DataFrame",
    "Series",
    "Mapping[",
    "dict[",
    "list[",
    "Sequence[",
    "frozenset[",
    "bytes",
    "object_",
    "Any]",
)


def words(kind: str) -> object:
    """Return a value of about this type that holds a participant's words."""
    if "DataFrame" in kind or "Series" in kind:
        return pd.DataFrame({"text": [SAID]})
    if kind.startswith(("Mapping", "dict")):
        return {"m1": SAID}
    return np.array([SAID], dtype=object) if "NDArray" in kind else [SAID]


def test_no_class_shows_a_field_that_may_hold_words() -> None:
    """In every dataclass, public or not: tables, texts and lists are hidden unless they were looked at."""
    shown: dict[str, set[str]] = {}
    for kind in dataclasses_of_the_package():
        written = inspect.unwrap(kind.__repr__)
        if not inspect.isfunction(written) or written.__code__.co_filename != "<string>":
            continue  # written by hand: see the tests of what is passed around
        for field in dataclasses.fields(kind):
            if not any(holder in str(field.type) for holder in HOLDERS) and field.name not in TEXTS:
                continue
            thing = object.__new__(kind)
            for other in dataclasses.fields(kind):
                object.__setattr__(thing, other.name, words(str(field.type)) if other is field else None)
            if CANARY in repr(thing):
                shown.setdefault(kind.__name__, set()).add(field.name)
    assert shown == SHOWN


# Fields of one text each.
TEXTS = {"text", "quote", "passages", "distinct"}


def test_every_widget_keeps_words_out_of_its_traits(tmp_path: Path) -> None:
    units = pd.DataFrame(
        {
            "unit_id": ["m1", "m2"],
            "text": SAID,
            "document_id": "d1",
            "case_id": "p1",
            "position": pd.array([1, 2], "Int64"),
            "context": json.dumps([{"role": "user", "text": SAID}]),
        }
    )
    codebook = qual.Codebook.read("sense7")
    code = codebook.codable[0].id
    acts = [
        qual.acts.apply(coder="ana", unit_id="m1", code=code, start=3, end=11, codebook=codebook),
        qual.acts.memo(coder="ana", unit_id="m1", text=SAID, codebook=codebook),
        qual.acts.memo(
            coder="ana", target_kind="span", unit_id="m1", start=3, end=11, text=SAID, codebook=codebook
        ),
        qual.acts.memo(coder="ana", target_kind="code", code=code, text=SAID, codebook=codebook),
        qual.acts.memo(coder="ana", target_kind="study", text=SAID, codebook=codebook),
    ]
    store = qual.Store.create(tmp_path / "study", units=units, codebook=codebook)
    store.append([*acts, qual.acts.finish(coder="ana", unit_id="m1", codebook=codebook)])
    store.append([qual.acts.propose(coder="ben", label=SAID[:200].strip(), unit_id="m1", codebook=codebook)])
    coding = qual.widgets.CodingWidget(units, codebook, coder="ana", acts=acts, save=acts.extend)
    store.append([qual.acts.finish(coder="ben", unit_id="m1", codebook=codebook)])
    revising = qual.widgets.CodebookWidget(store, coder="ana")
    settling = qual.widgets.AdjudicationWidget(store, coder="ana", without_round=True)
    ruling = {"kind": "rule", "unit_id": "m1", "code": code, "applied": True, "reason": "slip", "note": SAID}
    settling._receive(settling, {"type": "act", "act": ruling, "client": "c", "id": new_id()}, [])
    assert settling.n_settled == 1
    assert len(coding.memos().rows) == 4
    quoting = qual.widgets.QuotesWidget(store, coder="ana", without_round=True)
    quote = {
        "kind": "quote",
        "unit_id": "m1",
        "code": code,
        "start": 3,
        "end": 11,
        "state": "approved",
        "role": "shows",
        "paraphrase": SAID,
    }
    quoting._receive(quoting, {"type": "act", "act": quote, "client": "c", "id": new_id()}, [])
    assert quoting.n_approved == 1
    passage = {"type": "text", "unit_id": "m1", "code": code, "start": 3, "end": 11}
    quoting._receive(quoting, {**passage, "client": "c", "id": "q"}, [])
    quoting._receive(quoting, {"type": "keep", "drafts": [{**passage, "text": SAID}], "id": "k"}, [])
    overview = qual.widgets.OverviewWidget(store, coder="ana", without_round=True)
    reading = qual.widgets.ThemesWidget(store, coder="ana", without_round=True)
    asking = qual.widgets.ModelCoderWidget(store, coder="ana", chat=lambda messages: "", lead_codes=False)
    widgets = (coding, revising, settling, overview, reading, quoting, asking)
    assert {type(widget).__name__ for widget in widgets} == set(qual.widgets.__all__)
    overview._count_all()
    for asked in (
        {"type": "unit", "unit_id": "m1"},
        {"type": "units", "door": {"of": "proposals"}, "first": 0},
    ):
        overview._receive(overview, {**asked, "client": "c", "id": "u"}, [])
    for widget in widgets:
        for asked in ("hello", "memos", "proposals", "versions"):
            widget._receive(widget, {"type": asked, "client": "c", "id": asked}, [])
        edit = {"do": "edit", "code": code, "values": {"definition": SAID}}
        widget._receive(widget, {"type": "step", "step": edit, "client": "c", "id": "s"}, [])
        traits = {trait: getattr(widget, trait) for trait in widget.traits() if trait != "comm"}
        assert CANARY not in json.dumps(widget.get_state(), default=str) + repr(traits) + repr(widget)
        widget.close()
