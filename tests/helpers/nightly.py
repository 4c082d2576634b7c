"""Which cases of a test run in `make test`, where all of them run in `make nightly` alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def nightly_but(cases: Iterable[Any], *, here: Collection[Any]) -> list[Any]:
    """Return the cases of a test, of which all that are not named in `here` are for `make nightly`."""
    listed = list(cases)
    assert all(one in listed for one in here), "a case that is named here is not among them"
    later = ((case if isinstance(case, tuple) else (case,)) for case in listed)
    params = (pytest.param(*values, marks=pytest.mark.nightly) for values in later)
    return [case if case in here else param for case, param in zip(listed, params, strict=True)]
