"""The coding widget: one unit at a time, the codebook beside it, every key press saved."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anywidget
import pandas as pd
import traitlets

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, CodebookError, QualError, StoreError
from sense7_qual.widgets._session import Session
from sense7_qual.widgets._study import of_study, one_by_one

__all__ = ["COMMANDS", "CodingWidget"]

COMMANDS: Final[Mapping[str, str]] = {
    "finish_and_next": "Enter",
    "finish": "f",
    "next": "ArrowRight",
    "back": "ArrowLeft",
    "next_unfinished": "n",
    "next_word": "w",
    "next_sentence": "s",
    "next_coding": "ArrowDown",
    "previous_coding": "ArrowUp",
    "remove_coding": "Delete",
    "valence": "v",
    "unsure": "u",
    "memo": "m",
    "rating": "r",
    "context": "c",
    "filter": "/",
    "undo": "z",
    "redo": "y",
    "help": "?",
}
"""What can be done by a key, with the key that does it unless `keys` says otherwise."""

_FREE_KEYS: Final = "1234567890abdeghijklopqtx"
_STATIC: Final = Path(__file__).parent / "static"


class CodingWidget(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget carries no types
    """Code units one by one, with the codebook beside them.

    Every key press is committed by `save` before the widget shows it as saved; what could not be saved
    stays on screen as NOT SAVED and is sent again. No text is kept in the widget's traits, so a saved
    notebook holds none.

    Parameters
    ----------
    store : Store
        The study, which holds all that is needed: the units that its plan gives the coder (`Store.assign`),
        in that order, or all of them where the study has no plan; the codebook; what the coder did before;
        and where every act goes. Anything else with `units`, `codebook`, `acts` and `append` does as well.
    coder : str
        The pseudonym of the person who codes.
    units, codebook, acts, save : optional
        The same one by one, in place of a study: the units to code (DataFrame), in their order; the Codebook;
        the acts that this coder did before; a function that is called with the new acts, and returns only
        when they are safe.
    rating : str, optional
        A column of `units` that can be shown beside the text.
    show_rating : bool
        Whether it is shown from the start. Seeing the rating may colour the coding, so it is hidden.
    round : str, optional
        The round that is coded, which the lead opened (`rounds.open_round`): of a study, its units. Every act
        carries its name.
    review : iterable of str, optional
        Units that are shown as not finished until they are finished under `codebook`: those of what an
        earlier version left undecided (``codings.stale(…)["unit_id"]``).
    keys : mapping, optional
        Other keys for commands, such as ``{"memo": "i"}``; `COMMANDS` names them all.

    Raises
    ------
    ArgumentError
        Neither a study nor all of `units`, `codebook`, `acts` and `save`, or some of both.
    ActError
        `coder` is missing, no pseudonym, or has no texts in the plan of the study; there is no such round;
        `acts` hold another coder's, or two things share a key.
    TableError
        `units` is not what its contract says, or has no such rating.

    Examples
    --------
    >>> import pandas as pd
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [1]})
    >>> sense7, saved = Codebook.read("sense7"), []
    >>> CodingWidget(units=units, codebook=sense7, coder="ana", acts=saved, save=saved.extend)
    CodingWidget('ana', 0 of 1 units finished)

    Of a study: ``CodingWidget(store, coder="ana")``.
    """

    _esm = _STATIC / "coding.js"
    _css = _STATIC / "coding.css"
    n_units = traitlets.Int(0).tag(sync=True)
    n_finished = traitlets.Int(0).tag(sync=True)
    revision = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        store: Any = None,
        codebook: Codebook | None = None,
        *,
        coder: str | None = None,
        units: pd.DataFrame | None = None,
        acts: Sequence[Act] | None = None,
        save: Callable[[Sequence[Act]], object] | None = None,
        rating: str | None = None,
        show_rating: bool = False,
        round: str | None = None,
        review: Iterable[str] = (),
        keys: Mapping[str, str] | None = None,
    ) -> None:
        if coder is None:
            raise ActError(
                "coder: expected the pseudonym of who codes – found none – name them: "
                "CodingWidget(store, coder='ana')."
            )
        check_arguments(CodingWidget.__init__, locals(), but=("coder",))
        if isinstance(store, pd.DataFrame) and units is None:
            store, units = None, store
        parts = {"units": units, "codebook": codebook, "acts": acts, "save": save}
        given = one_by_one(**parts) if store is None else of_study(store, coder=coder, round=round, **parts)
        self._session = Session(
            given.units,
            given.codebook,
            coder=coder,
            acts=given.acts,
            rating=rating,
            round=round,
            review=review,
        )
        self._commands = _commands(keys or {})
        self._code_keys = _code_keys(given.codebook, self._commands)
        self._save = given.save
        self._current = given.current
        self._moved_on = False
        self._look_at_the_codebook()
        self._show_rating = show_rating
        self._lock = threading.RLock()
        # Built once per act_id: a deed that is sent again after a failure must be the same act.
        self._unsaved: dict[str, Act] = {}
        super().__init__(n_units=len(self._session.unit_ids), n_finished=self._session.n_finished)
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        session = self._session
        return f"CodingWidget({session.coder!r}, {session.n_finished} of {self.n_units} units finished)"

    @property
    def notice(self) -> str:
        """What the coder should know of the codebook, as the widget shows it; empty where there is nothing.

        That it was revised since the study was opened, or since the coder coded some of the texts.
        """
        session, n_earlier = self._session, self._session.n_earlier
        notices = [
            "The codebook of this study was revised after it was opened here. Open the study again, then run "
            "this cell again: what you code until then counts as coded with the earlier version."
        ] * self._moved_on
        if n_earlier:
            notices.append(
                f"{n_earlier} of these {len(session.unit_ids)} texts you coded with an earlier version of "
                "the codebook. Ask the lead which of them to look at again."
            )
        return " ".join(notices)

    def _look_at_the_codebook(self) -> None:
        """Ask the study whether the codebook of this widget is still the current one."""
        if self._current is not None:
            with suppress(QualError):  # whatever is wrong is told where the next act is saved
                self._moved_on = self._current() != self._session.codebook.fingerprint

    def _receive(self, _: object, message: object, __: object) -> None:
        """Answer one message of a browser; whatever goes wrong is told to it, never swallowed."""
        content: Mapping[str, Any] = message if isinstance(message, Mapping) else {}
        with self._lock:
            try:
                answer = self._answer(content)
            except (ActError, CodebookError) as error:
                answer = {"type": "refused", "message": str(error)}
            except QualError as error:
                answer = {"type": "failed", "message": str(error)}
            except Exception as error:  # noqa: BLE001 – an exception here would vanish; its text may hold quotes
                deed = "saving" if content.get("type") == "deed" else "showing the text"
                answer = {"type": "failed", "message": f"{deed} failed ({type(error).__name__})"}
            self.send({**answer, "client": content.get("client"), "id": content.get("id")})
            if answer["type"] == "done":  # the traits are for the notebook, so the coder's answer goes first
                self.n_finished = self._session.n_finished
                self.revision += 1

    def _answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        match content.get("type"):
            case "hello":
                self._look_at_the_codebook()
                return self._welcome()
            case "unit":
                unit = self._session.unit(_field(content, "place", int))
                if not content.get("peek"):
                    self._session.position = unit["place"]
                    self._look_at_the_codebook()
                return {"type": "unit", "unit": unit, "notice": self.notice}
            case "deed":
                return self._do({**_field(content, "deed", dict), "act_id": _field(content, "id", str)})
            case other:
                raise ActError(
                    f"message: expected hello, unit or deed – found {str(other)[:40]!r} – reload the page."
                )

    def _do(self, deed: Mapping[str, Any]) -> dict[str, Any]:
        act_id = deed["act_id"]
        act = self._session.knows(act_id)
        if act is None:
            act = self._unsaved.get(act_id) or self._session.act(deed)
            self._unsaved[act_id] = act
            try:
                self._save([act])
            except (ActError, CodebookError):
                del self._unsaved[act_id]
                raise
            except StoreError:  # an OSError too, which says more
                raise
            except OSError as error:
                raise StoreError(f"saving failed: {error.strerror or type(error).__name__}") from error
            del self._unsaved[act_id]
        place = self._session.record(act)
        if act.kind == "finish":  # the next unit is often here already, and nothing asks for it
            self._look_at_the_codebook()
        unit = self._session.unit(place)
        return {"type": "done", "kind": act.kind, "unit": unit, "notice": self.notice, **self._counts(place)}

    def _counts(self, place: int) -> dict[str, Any]:
        session = self._session
        return {
            "flag": session.flag(place),
            "n_finished": session.n_finished,
            "can_undo": session.can_undo,
            "can_redo": session.can_redo,
        }

    def _welcome(self) -> dict[str, Any]:
        session = self._session
        return {
            "type": "welcome",
            "coder": session.coder,
            "notice": self.notice,
            "outbox": self._outbox,
            "codebook": _described(session.codebook, self._code_keys),
            "commands": dict(self._commands),
            "flags": session.flags,
            "show_rating": self._show_rating,
            "unit": session.unit(session.position) if session.unit_ids else None,
            **(self._counts(session.position) if session.unit_ids else {}),
        }

    @property
    def _outbox(self) -> str:
        """Names what unsent deeds belong to, so that a new widget for the same work can send them."""
        session = self._session
        named = [session.coder, session.codebook.fingerprint, str(session.round), *session.unit_ids]
        return hashlib.sha256("\x1f".join(named).encode()).hexdigest()[:32]


def _field(content: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return a field of a browser's message, which must be exactly of this type (True is no number)."""
    value = content.get(name)
    if type(value) is not kind:
        raise ActError(
            f"message: expected {kind.__name__} as {name} – found {type(value).__name__} – reload the page."
        )
    return value


def _commands(keys: Mapping[str, str]) -> dict[str, str]:
    unknown = [name for name in keys if name not in COMMANDS]
    if unknown:
        raise ActError(
            f"keys: expected the names of commands – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], COMMANDS)}"
        )
    unfit = [name for name, key in keys.items() if not isinstance(key, str) or key in ("", "Tab", "Escape")]
    if unfit:
        raise ActError(
            f"keys: expected keys as the browser names them – found {first_three(keys[n] for n in unfit)} "
            f"for {first_three(unfit)} – name one such as 'i' or 'ArrowUp'; Tab and Escape stay as they are."
        )
    commands = {**COMMANDS, **keys}
    twice = sorted(key for key, times in Counter(commands.values()).items() if times > 1)
    if twice:
        names = [name for name, key in commands.items() if key == twice[0]]
        raise ActError(
            f"keys: expected one command per key – found {twice[0]!r} for {' and '.join(names)} – "
            "choose another."
        )
    return commands


def _code_keys(codebook: Codebook, commands: Mapping[str, str]) -> dict[str, str]:
    """Return code id → key: the codebook's own, then free ones in order; codes beyond them have none."""
    taken = {key: name for name, key in commands.items()}
    keys = {code.id: code.key for code in codebook.codable if code.key is not None}
    for code_id, key in keys.items():
        if key in taken:
            raise ActError(
                f"keys: expected a key of its own for code {code_id!r} – found {key!r}, which is "
                f"{taken[key].replace('_', ' ')!r} – give the command another key: "
                f"CodingWidget(…, keys={{{taken[key]!r}: …}})."
            )
    free = iter([key for key in _FREE_KEYS if key not in {*keys.values(), *taken}])
    for code in codebook.codable:
        if code.id not in keys and (spare := next(free, None)) is not None:
            keys[code.id] = spare
    return keys


def _described(codebook: Codebook, keys: Mapping[str, str]) -> dict[str, Any]:
    """Return what the browser shows of the codebook."""
    names = ("id", "label", "definition", "use_when", "avoid_when", "examples", "counter_examples", "parent",
             "colour", "codable")  # fmt: skip
    return {
        "title": codebook.title or codebook.name,
        "version": codebook.version,
        "valence": list(codebook.valence),
        "codes": [
            {**{name: getattr(code, name) for name in names}, "key": keys.get(code.id)}
            for code in codebook.codes
        ],
    }
