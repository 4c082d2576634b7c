"""What the kernel of a coder's page shows: the coding widget, or one sentence in its place."""

from __future__ import annotations

import logging
from typing import Final

from sense7_qual._coder_names import is_model
from sense7_qual._commands.words import is_address
from sense7_qual.errors import ArgumentError, NotLetIn, QualError
from sense7_qual.store import Store
from sense7_qual.widgets import CodingWidget

STRANGER: Final = "You are signed in, but no study is open to you. Ask whoever leads it."


class Sentence(str):
    """A sentence that is shown as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def shown(study: str, *, coder: str | None, rating: str | None, round: str | None) -> object:
    """Return the widget of the coder, by default the one as whom this database role codes, or a sentence.

    Afterwards the kernel says nothing but what the widget says: no log, and no widget of a browser's making.
    """
    try:
        if coder is None and not is_address(study):
            raise ArgumentError(
                "code: under JupyterHub, the study must be in PostgreSQL (a folder keeps nobody blind)."
            )
        store = Store(study)
        widget = CodingWidget(store, coder=coder or _own_coder(store), rating=rating, round=round)
    except NotLetIn as error:
        return Sentence(STRANGER if coder is None else error)
    except QualError as error:
        return Sentence(error)
    except Exception as error:  # noqa: BLE001 – its words may quote a text
        kind = type(error).__name__
        return Sentence(f"The page could not be opened ({kind}). Everything reported as saved is safe.")
    _hear_this_widget_alone()
    return widget


def _own_coder(store: Store) -> str:
    """Return the one person as whom the role codes."""
    people = [coder for coder in store.desk.own_coders() if not is_model(coder)]
    if not people:
        raise NotLetIn("code: this database role codes as nobody.")
    if len(people) > 1:
        raise ArgumentError(
            f"code: your account codes as {len(people)} people of this study, so the page cannot know who "
            "you are. Ask whoever leads the study for an account of your own."
        )
    return people[0]


def _hear_this_widget_alone() -> None:
    from IPython.core.getipython import get_ipython
    from ipywidgets import Widget

    logging.disable(logging.CRITICAL)
    shell = get_ipython()
    if shell is not None:
        shell.kernel.comm_manager.unregister_target("jupyter.widget", Widget.handle_comm_opened)
