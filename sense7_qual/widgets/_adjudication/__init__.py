"""The widget for settling disagreements: the queue, a text with each coder's reading, rulings."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, get_args

import traitlets

from sense7_qual import acts as record, rounds
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts import REASONS, Act
from sense7_qual.errors import ActError
from sense7_qual.widgets._adjudication.discussing import Discussions, discussions
from sense7_qual.widgets._adjudication.disputes import By, Disputes, Key, Names, SimilarTexts
from sense7_qual.widgets._adjudication.readings import Readings, changed, foretold, overtaken
from sense7_qual.widgets._base import STATIC, Asked, desk_of, field
from sense7_qual.widgets._codes import described_book
from sense7_qual.widgets._lead import LeadWidget, by_id
from sense7_qual.widgets._offsets import as_text

__all__ = ["AdjudicationWidget"]

_DOING: Final = {
    "act": "saving",
    "save_change": "saving",
    "hello": "reading the disagreements",
    "queue": "reading the disagreements",
    "similar": "comparing the texts",
    "discuss": "opening the discussion",
    "share": "opening the discussion",
    "discussions": "reading the discussions",
    "thread": "reading the discussions",
    "say": "saving",
    "change": "counting what becomes stale",
    "keep": "keeping what you began",
}
_SETTLED: Final = {True: "applied", False: "absent", None: "differing"}
_LONGEST: Final = 400


class AdjudicationWidget(LeadWidget):
    """Settle disagreements between coders, text by text.

    The lead sees a text with its conversation, each coder's codings and memos, the rule of the disputed code
    and earlier rulings on similar texts. A ruling takes one key for the decision (the code applies, does not
    apply, or both readings are valid) and one for the reason; the next disagreement then opens. Coders'
    decisions are not changed. The widget shows only what `coder` may see: their own coding and finished texts
    of unblinded rounds. A study folder keeps unsaved notes and rules for this `coder`'s next widget. Widget
    traits hold no text, quote, memo or note, so a saved notebook contains none.

    Parameters
    ----------
    store : Store
        The study.
    coder : str
        Pseudonym of the lead who settles; in PostgreSQL with a leading role.
    letters : bool
        Whether to call coders A, B, C …, so that nobody is judged by who they are; their names are then not
        in the page. Can be switched in the widget.
    without_round : bool
        Whether to show disagreements outside rounds too. Nothing unblinds such codings, so set it only once
        the coders are done.
    embed : callable, optional
        Maps texts to an array of vectors (`models.embedder`), to find earlier rulings on texts of similar
        meaning as well as similar words.

    Raises
    ------
    ArgumentError
        `store` is not an open study.
    ActError
        `coder` is not a valid pseudonym.
    StoreError
        The PostgreSQL role is a coder's.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [1]})
    >>> from sense7_qual.codebook import Codebook
    >>> from sense7_qual.store import Store
    >>> store = Store.create(Path(tempfile.mkdtemp()) / "s", units=units, codebook=Codebook.read("sense7"))
    >>> AdjudicationWidget(store, coder="lead")
    AdjudicationWidget('lead', 0 open, 0 settled)
    """

    _esm = STATIC / "adjudication.js"
    _css = STATIC / "adjudication.css"
    _doing = _DOING
    _work, _alone = "adjudication", "settles disagreements"
    _once = ("save_change", "discuss", "share", "say")
    n_open = traitlets.Int(0).tag(sync=True)
    n_settled = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        store: Any,
        *,
        coder: str,
        letters: bool = False,
        without_round: bool = False,
        embed: Callable[[list[str]], Any] | None = None,
    ) -> None:
        check_arguments(AdjudicationWidget.__init__, locals())
        self._embed, self._letters = embed, letters
        self._by: By = "split"
        super().__init__(store, coder=coder, without_round=without_round)

    def __repr__(self) -> str:
        return f"AdjudicationWidget({self._coder!r}, {self.n_open} open, {self.n_settled} settled)"

    def _look(self) -> None:
        """Read what may be seen, in the codes of the current codebook."""
        self._read = self._seen()
        self._codebook = self._read.codebook
        self._disputes = Disputes(self._read)
        self._done |= by_id(act for act in self._read.team_rulings if act.coder == self._coder)
        self._names = self._called()
        self._order = self._disputes.ordered(self._by, self._names)
        for stale in ("_readings", "_talks"):
            self.__dict__.pop(stale, None)

    def _called(self) -> Names:
        read = self._read
        coders = {
            name
            for frame in (read.coverage, read.codings, read.memos, read.talked.coverage)
            for name in frame["coder"]
        }
        return Names(coders, viewer=self._coder, of_study=self._work_id, letters=self._letters)

    @cached_property
    def _readings(self) -> Readings:
        decided, units = self._disputes.decisions, {unit_id for unit_id, _ in self._disputes.keys}
        disputed = decided[decided["unit_id"].isin(units)]
        return Readings(self._read, disputed)

    @cached_property
    def _talks(self) -> Discussions:
        return Discussions(self._study, self._seen(), self._names, coder=self._coder)

    @cached_property
    def _similar_texts(self) -> SimilarTexts:
        return SimilarTexts(self._readings.texts, embed=self._embed)

    def _counts(self) -> Mapping[str, int]:
        return {"n_open": self._disputes.n_open, "n_settled": self._disputes.n_settled}

    # what is asked ----------------------------------------------------------------------------------

    def _asked(self) -> Sequence[Asked]:
        return (
            {
                "hello": self._welcome,
                "queue": self._queue,
                "dispute": self._dispute,
                "similar": self._similar,
                "names": self._call,
                "act": self._do,
                "keep": self._keep,
                "change": self._foretell,
                "save_change": self._save_change,
                "discuss": self._open_discussion,
                "discussions": self._list_discussions,
                "thread": self._thread,
                "share": self._share,
                "say": self._say,
            },
        )

    def _welcome(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "type": "welcome",
            "coder": self._coder,
            "work_id": self._work_id,
            "reasons": [{"name": name, "label": label} for name, label in REASONS.items()],
            "by_meaning": self._embed is not None,
            "unsaved": self._begun.read(),
            "codebook": self._book(),
            **self._queued(),
        }

    def _keep(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the notes on what is not settled yet, and the change of the codebook that is begun."""
        begun = {
            "notes": field(content, "notes", list),
            "change": content.get("change"),
            "discuss": content.get("discuss"),
        }
        self._begun.keep({name: value for name, value in begun.items() if value})
        return {"type": "kept"}

    def _book(self) -> dict[str, Any]:
        return {**described_book(self._codebook), "version": self._codebook.version, "facets": []}

    def _queue(self, content: Mapping[str, Any]) -> dict[str, Any]:
        by: Any = content.get("by")
        if by not in get_args(By):
            raise ActError(
                f"queue: expected an order of the queue – found {word(by)} – "
                f"{did_you_mean(str(by), get_args(By))}"
            )
        self._by = by
        if content.get("fresh") is True:
            self._look()
            self._count()
        else:
            self._order = self._disputes.ordered(self._by, self._names)
        return {"type": "queue", **self._queued()}

    def _queued(self) -> dict[str, Any]:
        settled = self._disputes.settled
        rows = [
            {**row, "settled": _settled(settled.get((row["unit_id"], row["code"])))} for row in self._order
        ]
        return {
            "by": self._by,
            "letters": self._letters,
            "rows": rows,
            "words": self._words(),
            **self._progress(),
        }

    def _words(self) -> str:
        return self._read.words(self._read.decided, called=self._names.coder)

    def _progress(self, after: Key | None = None) -> dict[str, Any]:
        disputes = self._disputes
        order = [(row["unit_id"], row["code"]) for row in self._order]
        return {
            "n_open": disputes.n_open,
            "n_settled": disputes.n_settled,
            "by_code": disputes.by_code(),
            "brings": disputes.brings(order, after),
        }

    def _call(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Call coders by letters or by their pseudonyms, in all views."""
        self._letters = field(content, "letters", bool)
        self._names = self._called()
        self.__dict__.pop("_talks", None)  # it calls them as before
        self._order = self._disputes.ordered(self._by, self._names)
        self._tell({"type": "named", **self._queued()})
        return {"type": "called"}

    def _dispute(self, content: Mapping[str, Any]) -> dict[str, Any]:
        disputes = self._disputes
        key = unit_id, code = disputes.check(content.get("unit_id"), content.get("code"))
        others = [
            {"code": other, "settled": _settled(disputes.settled.get((unit_id, other)))}
            for unit, other in disputes.keys
            if unit == unit_id and other != code
        ]
        return {
            "type": "dispute",
            **self._readings.of(unit_id, code, self._names),
            "ruling": self._ruling(key),
            "others": others,
        }

    def _ruling(self, key: Key) -> dict[str, Any] | None:
        act = self._disputes.settled.get(key)
        if act is None:
            return None
        return {
            "settled": _settled(act),
            "reason": act.reason,
            "note": act.text or "",
            "at": act.at,
            "by": self._names.adjudicator(act.coder),
        }

    def _similar(self, content: Mapping[str, Any]) -> dict[str, Any]:
        unit_id, code = self._disputes.check(content.get("unit_id"), content.get("code"))
        ruled = [one for one in self._disputes.settled_on(code) if one != unit_id]
        near, note = self._similar_texts.to(unit_id, ruled)
        texts = self._readings.texts
        rows = [
            {
                "unit_id": one,
                "how": how,
                "text": texts[one][:_LONGEST],
                "cut": len(texts[one]) > _LONGEST,
                **(self._ruling((one, code)) or {}),
            }
            for one, how in near
        ]
        return {
            "type": "similar",
            "unit_id": unit_id,
            "code": code,
            "rows": rows,
            "n_ruled": len(ruled),
            "note": note,
        }

    # rulings ----------------------------------------------------------------------------------------

    def _do(self, content: Mapping[str, Any]) -> dict[str, Any]:
        ruled, done = self._decide(content, self._disputes)
        keys = [(str(act.unit_id), str(act.code)) for act in ruled]
        counts = any(self._disputes.counts(act) for act in ruled)
        also = [
            {"unit_id": unit_id, "code": code, "ruling": self._ruling((unit_id, code))}
            for unit_id, code in keys[1:]
        ]
        return {
            **done,
            "counts": counts,
            "ruling": self._ruling(keys[0]),
            "also": also,
            **self._progress(keys[-1]),
        }

    def _decisions(self, asked: Mapping[str, Any], common: Mapping[str, Any]) -> list[Act]:
        """Return a ruling, or the rulings that are made together on all `rows`, as one step."""
        rows = asked.get("rows")
        if not isinstance(rows, list) or len(rows) < 2:  # one alone is no step
            return super()._decisions(asked, common)
        first = uuid.UUID(common["act_id"])
        ids = [str(first), *(str(uuid.uuid5(first, str(at))) for at in range(1, len(rows)))]
        return record.in_one_step(
            [
                self._decision({**asked, **row}, {**common, "act_id": one})
                for row, one in zip(rows, ids, strict=True)
            ]
        )

    def _decision(self, asked: Mapping[str, Any], common: Mapping[str, Any]) -> Act:
        if asked.get("kind") != "rule" or asked.get("reason") is None:
            raise ActError(f"act: a ruling needs a reason – choose one of {', '.join(REASONS)}.")
        unit_id, code = self._disputes.check(asked.get("unit_id"), asked.get("code"))
        return record.rule(
            coder=self._coder,
            unit_id=unit_id,
            code=code,
            applied=asked.get("applied"),
            reason=asked.get("reason"),
            note=as_text(asked.get("note")).strip() or None,
            **common,
        )

    # discussions ------------------------------------------------------------------------------------

    def _open_discussion(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Open a discussion of these texts with those who decided on them, or have one of them look again."""
        keys = [
            self._disputes.check(row.get("unit_id"), row.get("code")) for row in field(content, "rows", list)
        ]
        units, asked = [unit_id for unit_id, _ in keys], content.get("coder")
        alone = None if asked is None else lambda coder: self._names.coder(coder) == asked
        acts = discussions(self._study, units, self._read.rounds, coder=self._coder, alone=alone)
        self._study.append(acts)
        opened = rounds.opened(acts)
        return {
            "type": "discussing",
            "rounds": [
                {
                    "name": one.name,
                    "n_units": len(one.units),
                    "coders": [self._names.coder(coder) for coder in one.coders],
                }
                for one in opened
            ],
        }

    def _list_discussions(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Read the discussions again, and return how each goes."""
        self.__dict__.pop("_talks", None)
        return {"type": "discussions", "rows": self._talks.rows()}

    def _thread(self, content: Mapping[str, Any]) -> dict[str, Any]:
        return self._talks.thread(content.get("name"), content.get("unit_id"))

    def _say(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Save a note in a discussion, and return the text with it."""
        note = self._talks.note(content, codebook=self._codebook, act_id=field(content, "id", str))
        self._study.append([note])
        self._list_discussions(content)
        return self._thread(content)

    def _share(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Show all who discuss what the others write and revise, and count what they agreed on."""
        one = self._talks.check(content.get("name"))
        self._study.append([rounds.unblind(one.name, coder=self._coder, codebook=self._codebook)])
        self._look()
        self._count()
        self._tell({"type": "named", **self._queued()})
        return {"type": "discussions", "rows": self._talks.rows()}

    # a change of the codebook -----------------------------------------------------------------------

    def _foretell(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Say what becomes stale by a change, and of which version that is said."""
        theirs = overtaken(self._codebook, content)
        if theirs:
            return {"type": "overtaken", "theirs": theirs, "by": self._last_revision()}
        state = changed(self._codebook, self._study.codebooks.values(), content)
        disputes = self._disputes
        effects = foretold(self._read, state, list(disputes.settled.values()), disputes.keys)
        for row in (*effects["by_code"], *effects["by_coder"]):
            row["coder"] = self._names.coder(row["coder"])
        return {"type": "change", "base": state.base.fingerprint, "words": self._words(), **effects}

    def _last_revision(self) -> dict[str, Any] | None:
        """Say who revised the codebook last, when and why."""
        last = next(iter(reversed(self._study.revisions)), None)
        return (
            None
            if last is None
            else {"coder": self._names.adjudicator(last.coder), "at": last.at, "why": last.why}
        )

    def _save_change(self, content: Mapping[str, Any]) -> dict[str, Any]:
        if desk_of(self._study).current_codebook() != content.get("base"):
            self._look()
            self._revised()
            raise ActError(
                "codebook: somebody else revised it after the count was shown, so nothing was saved – check "
                "the new count and save again."
            )
        state = changed(self._codebook, self._study.codebooks.values(), content)
        self._study.revise(state.codebook, why=field(content, "why", str), coder=self._coder)
        self._look()
        self._revised()
        return {"type": "changed_code", "code": str(content.get("code"))}

    def _revised(self) -> None:
        """Tell all views of the codebook as it is now, and what it makes of the disagreements."""
        self._count()
        self._tell({"type": "revised", "codebook": self._book(), **self._queued()})


def _settled(act: Act | None) -> str | None:
    return None if act is None else _SETTLED[act.applied]
