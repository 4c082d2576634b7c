from __future__ import annotations

import ast
import copy

from sense7_qual import errors
from sense7_qual.errors import QualError
from sense7_qual.models import EndpointError, NoAnswer
from tests.helpers.modules import FILES, tree


def test_every_error_is_a_qual_error_and_they_are_siblings() -> None:
    values = [
        errors.ArgumentError,
        errors.CodebookError,
        errors.TableError,
        errors.ActError,
        errors.ImportRefused,
    ]
    assert all(error.__bases__ == (QualError, ValueError) for error in values)
    outside = [errors.StoreError, EndpointError, NoAnswer]
    assert all(error.__bases__ == (QualError, OSError) for error in outside)
    assert QualError.__bases__ == (Exception,)


def test_an_error_of_the_disk_says_its_sentence_and_survives_a_copy() -> None:
    error = errors.StoreError("study 's': expected … – found … – do …")
    assert str(error) == str(copy.copy(error)) == "study 's': expected … – found … – do …"


def test_no_bare_qual_error_is_raised() -> None:
    """`except ValueError` or `except OSError` around a call catches whatever the package raises."""
    bare = [
        f"{name}:{node.lineno}"
        for name in FILES
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "QualError"
    ]
    assert bare == []


def test_the_module_of_errors_holds_errors_alone() -> None:
    assert all(issubclass(getattr(errors, name), QualError) for name in errors.__all__)
