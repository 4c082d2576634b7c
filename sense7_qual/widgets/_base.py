"""What all widgets share: a browser's messages answered one by one, acts saved once, errors told."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import anywidget
import traitlets

from sense7_qual.acts import Act
from sense7_qual.errors import ActError, CodebookError, QualError, StoreError

Asked = Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]
"""Questions by name, each with what answers it."""

STATIC: Final = Path(__file__).parent / "static"
_FILL: Final = " " * (1 << 16)  # with so much in it an answer is not held back; why, says channel.ts


class BaseWidget(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget carries no types
    """A widget whose browser asks and is answered; each act is committed before it is shown as saved.

    Each widget says what it answers (`_asked`), what it was doing where that fails (`_doing`), and its counts
    (`_counts`). Where `save` fails, the act is kept under its id: sent again it is the same.

    Attributes
    ----------
    save : callable
        Called with the new acts; returns only when they are safe.
    """

    revision = traitlets.Int(0).tag(sync=True)
    _doing: ClassVar[Mapping[str, str]] = {}

    def __init__(self, save: Callable[[Sequence[Act]], object]) -> None:
        self._save = _and_tell(save)
        self._lock = threading.RLock()
        # Built once per act_id: one that is sent again after a failure must be the same.
        self._unsaved: dict[str, list[Act]] = {}
        self._questions = _joined(self._asked())
        super().__init__(**self._counts())
        self.on_msg(self._receive)

    def _asked(self) -> Sequence[Asked]:
        """Return the questions that it answers: its own, and those of each of its features."""
        raise NotImplementedError

    def _answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        kind = content.get("type")
        answer = self._questions.get(kind) if isinstance(kind, str) else None
        if answer is None:
            raise ActError(
                f"message: expected a question of this widget – found {str(kind)[:40]!r} – reload the page."
            )
        return answer(content)

    def _counts(self) -> Mapping[str, int]:
        """Return the counts of its traits."""
        raise NotImplementedError

    def _count(self) -> None:
        for name, n in self._counts().items():
            setattr(self, name, n)

    def _acted(self) -> None:
        """Hear that acts may have come into the record: by a cell that was run, or by another widget."""

    def _receive(self, _: object, message: object, __: object) -> None:
        """Answer one message of a browser; whatever goes wrong is told to it, never swallowed."""
        content: Mapping[str, Any] = message if isinstance(message, Mapping) else {}
        with self._lock:
            try:
                answer = self._answer(content)
            except (ActError, CodebookError) as error:
                answer = {"type": "refused", "message": str(error)}
            except Exception as error:  # noqa: BLE001 – an exception here would vanish
                doing = self._doing.get(str(content.get("type")), "showing the text")
                answer = {"type": "failed", "message": in_words(error, doing)}
            fill = {"fill": _FILL} if content.get("fill") is True else {}
            self.send({**answer, **fill, "client": content.get("client"), "id": content.get("id")})
            if answer["type"] == "done":  # the traits are for the notebook: the answer goes first
                self._count()
                self.revision += 1

    def _tell(self, message: Mapping[str, Any]) -> None:
        """Tell all views something that none of them asked."""
        self.send({**message, "client": None, "id": None})

    def _failed(self, kind: str, words: str, **more: str) -> None:
        """Tell all views that what was done in a thread failed."""
        self._tell({"type": kind, **more, "message": words})

    def _save_by_id(self, act_id: str, make: Callable[[], Act]) -> Act:
        """Save the act of this id, which `make` makes where it is new, and return it."""
        return self._save_step(act_id, lambda: [make()])[0]

    def _save_step(self, act_id: str, make: Callable[[], list[Act]]) -> list[Act]:
        """Save the acts that belong to this id, all or none, and return them."""
        acts = self._unsaved[act_id] = self._unsaved.get(act_id) or make()
        try:
            self._save(acts)
        except (ActError, CodebookError):
            del self._unsaved[act_id]
            raise
        del self._unsaved[act_id]
        return acts


def _joined(features: Sequence[Asked]) -> Asked:
    twice = [name for name, n in Counter(name for one in features for name in one).items() if n > 1]
    if twice:
        raise TypeError(f"expected one answer to each question – found several to {', '.join(twice)}")
    return {name: answer for one in features for name, answer in one.items()}


def in_words(error: Exception, doing: str) -> str:
    """Describe an error for the browser: a foreign error by its type only, since it may quote a text."""
    return str(error) if isinstance(error, QualError) else f"{doing} failed ({type(error).__name__})"


_LISTENING: Final[weakref.WeakSet[BaseWidget]] = weakref.WeakSet()
_IN_OWN_CELL: Final[weakref.WeakSet[BaseWidget]] = weakref.WeakSet()


def listen(widget: BaseWidget) -> None:
    """Let a widget hear (`_acted`) when another of this kernel saves acts, and after later cells."""
    from IPython.core.getipython import get_ipython

    _LISTENING.add(widget)
    _IN_OWN_CELL.add(widget)
    shell = get_ipython()
    if shell is not None:
        shell.events.register("post_run_cell", _after_a_cell)  # a second time this changes nothing


def acted() -> None:
    """Tell the widgets that listen that acts came into the record."""
    for widget in list(_LISTENING):
        widget._acted()


def _after_a_cell(_: object) -> None:
    for widget in list(_LISTENING - _IN_OWN_CELL):
        widget._acted()
    _IN_OWN_CELL.clear()


def _and_tell(save: Callable[[Sequence[Act]], object]) -> Callable[[Sequence[Act]], object]:
    def saved(acts: Sequence[Act]) -> object:
        try:
            result = save(acts)
        except StoreError:  # an OSError too, which says more
            raise
        except OSError as error:
            raise StoreError(f"saving failed: {error.strerror or type(error).__name__}") from error
        acted()
        return result

    return saved


def field(content: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return a field of a browser's message, which must be exactly of this type (True is no number)."""
    value = content.get(name)
    if type(value) is not kind:
        raise ActError(
            f"message: expected {kind.__name__} as {name} – found {type(value).__name__} – reload the page."
        )
    return value


def first_of(content: Mapping[str, Any]) -> int:
    """Return from which row on a browser asks for a page; from the first where it does not say."""
    first = content.get("first")
    return first if type(first) is int and first > 0 else 0


class Later:
    """Something that is done later; asked for again meanwhile, it is done once more, with what is known then.

    Attributes
    ----------
    run : callable
        What is done.
    say : callable
        Told in words where that fails: an error in a thread would vanish.
    doing : str
        What it is, for these words.
    """

    def __init__(self, run: Callable[[], object], say: Callable[[str], object], *, doing: str = "it") -> None:
        self._run, self._say, self._doing = run, say, doing
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False

    @property
    def asked_again(self) -> bool:
        """Whether what is being done now will be done once more."""
        return self._again

    def ask(self) -> None:
        """Have it done, and return at once."""
        with self._lock:
            self._again = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._go, daemon=True)
                self._thread.start()

    def join(self) -> None:
        """Wait until nothing is being done any more."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _go(self) -> None:
        while True:
            with self._lock:
                if not self._again:
                    self._thread = None
                    return
                self._again = False
            try:
                self._run()
            except Exception as error:  # noqa: BLE001 – it would vanish
                self._say(in_words(error, self._doing))


def desk_of(study: Any) -> Any:
    """Return a study's desk, which serves widgets; a study without one serves them itself."""
    return getattr(study, "desk", study)
