"""Acts: the steps that the record is made of, and the fold that turns them into frames.

An `Act` is one recorded step of one person. Acts are only ever added; the current state (codings, coverage,
memos, rulings) is computed from them by `fold`. Undoing is an act too, so nothing is lost by it.

================== =======================================================================================
kind               what was done
================== =======================================================================================
apply              a code is applied to a unit or a span of it (again: replaces facets and confidence)
remove             that coding is removed, even if its code is gone from the codebook
finish             the coder has finished the unit; every code not applied counts as absent
reopen             the coder reopens a finished unit
memo               a note on a unit, a span, a code or the study, for oneself or, with a round, for the team
                   (again with its `memo_id`: replaces it; empty: ends it)
rule               an adjudicator decides whether a code applies to a unit, or keeps both readings; why
propose            a coder proposes a code that the codebook lacks, with the text that shows it
show_suggestions   a model's suggestions for a unit are shown to a coder, or withheld by chance; no coding
reject_suggestion  a coder finds a suggested code wrong for a unit
describe           how a model was asked that codes: its settings and its prompts' hashes, no coding
abstain            a model could not decide on a code in a finished unit: neither applied nor absent
quote              whether words of a unit are printed for a code, and in which words (`codings.quotes`)
undo               the act `target` is undone, or all acts of the step `target`
redo               the act or step `target` is redone, in its old place: later acts stay
open_round         the lead opens a round: its units, coders and codebook (`rounds.open_round`)
unblind            the lead lets the coders see each other's acts of a round; it cannot be undone
assign             the lead assigns the units to coders: the plan of who codes what (`Store.assign`)
revise             the lead changes the codebook of the study (`Store.revise`)
set_options        the lead decides how the coders work: what happens to a new code (`Store.set_options`)
record_themes      the lead records the themes of a topic model (`Store.record_themes`, as `Store.edit_theme`)
edit_theme         the lead names, merges, splits or dismisses a theme, or makes a code of it
preregister        the lead registers the analysis plan (`Store.preregister`); a later one amends it
================== =======================================================================================

===================================  ==============================  ================
question                             function                        file
===================================  ==============================  ================
What is an act?                      `Act`                           ``_act.py``
What is true of each kind?           `Act.traits`                    ``_kinds.py``
How is one made?                     `apply`, `finish`, `undo` …     ``_make.py``
How are a coding's edges corrected?  `moved`                         ``_make.py``
Which acts are undone together?      `in_one_step`                   ``_make.py``
What does a memo on a span hold?     `SpanMemo`                      ``_act.py``
How is a new code proposed?          `propose`, `Proposal`           ``_make.py``
Why did coders disagree?             `REASONS`                       ``_act.py``
What is decided about a quote?       `quote_decision` …              ``_act.py``
Who may code, who is a person?       `check_coder`, `check_person`   ``_act.py``
What did a model suggest?            `show_suggestions` …            ``_suggest.py``
How was a model asked that codes?    `describe`, `abstain`           ``_suggest.py``
What is to be done, as registered?   `AnalysisPlan`, `preregister`   ``_analysis_plan.py``
Which count after undo and redo?     `standing`                      ``_fold.py``
How do acts become frames?           `fold`                          ``_fold.py``
===================================  ==============================  ================
"""

from __future__ import annotations

from sense7_qual.acts import contents
from sense7_qual.acts._act import (
    CONFIDENCES as CONFIDENCES,
    QUOTE_ROLES as QUOTE_ROLES,
    QUOTE_STATES as QUOTE_STATES,
    REASONS as REASONS,
    Act,
    QuoteDecision as QuoteDecision,
    check_coder as check_coder,
    check_person as check_person,
    quote_decision as quote_decision,
    stamp as stamp,
)
from sense7_qual.acts._analysis_plan import (
    ANSWERS as ANSWERS,
    Preregistration as Preregistration,
    preregister as preregister,
    preregistrations as preregistrations,
)
from sense7_qual.acts._fold import (
    Record as Record,
    about as about,
    decided_at as decided_at,
    fold,
    standing as standing,
)
from sense7_qual.acts._kinds import KINDS as KINDS, Kind as Kind, kinds_where as kinds_where
from sense7_qual.acts._make import (
    answer as answer,
    apply,
    finish,
    in_one_step as in_one_step,
    memo,
    moved as moved,
    overlap as overlap,
    place_of_step as place_of_step,
    propose,
    quote,
    redo,
    remove,
    reopen,
    rule,
    undo,
    words_written as words_written,
)
from sense7_qual.acts._suggest import shows_suggestions as shows_suggestions

__all__ = [
    "Act",
    "apply",
    "contents",
    "finish",
    "fold",
    "memo",
    "propose",
    "quote",
    "redo",
    "remove",
    "reopen",
    "rule",
    "undo",
]


def __dir__() -> list[str]:
    return __all__
