"""The settings of a resampling, and the allowance for few clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from sense7_qual._bootstrap import check_resampling, widened_quantile
from sense7_qual.errors import QualError

USUAL: dict[str, object] = {"n_boot": 2000, "confidence_level": 0.95, "seed": 7}


@pytest.mark.parametrize(
    "setting",
    [
        {"n_boot": 1},
        {"n_boot": np.int32(9)},
        {"seed": 0},
        {"seed": 2**63 - 1},
        {"seed": np.uint8(3)},
        {"confidence_level": 1e-9},
        {"confidence_level": np.float32(0.5)},
    ],
)
def test_settings_in_range_pass(setting: dict[str, object]) -> None:
    check_resampling("by_code", **(USUAL | setting))


@pytest.mark.parametrize(
    "setting",
    [
        {"n_boot": 0},
        {"n_boot": 10.0},
        {"n_boot": True},
        {"n_boot": None},
        {"n_boot": "2000"},
        {"seed": -1},
        {"seed": False},
        {"seed": 1.5},
        {"seed": 2**63},
        {"seed": np.uint64(2**63)},
        {"seed": None},
        {"confidence_level": 0},
        {"confidence_level": 1.0},
        {"confidence_level": 95},
        {"confidence_level": "0.95"},
        {"confidence_level": float("nan")},
        {"confidence_level": None},
    ],
)
def test_settings_out_of_range_are_named_with_the_function_and_the_value(setting: dict[str, object]) -> None:
    ((name, value),) = setting.items()
    with pytest.raises(QualError) as refused:
        check_resampling("by_code", **(USUAL | setting))
    message = str(refused.value)
    assert message.startswith(f"by_code: expected {name} ")
    assert f"found {value!r} – " in message


# Student's t, two-sided 5 %, as tabulated (Fisher & Yates 1963, table III): 12.706, 2.571, 2.042, 1.980.
@pytest.mark.parametrize(("n", "t"), [(2, 12.706), (6, 2.571), (31, 2.042), (121, 1.980)])
def test_widened_quantile_by_the_table_of_t(n: int, t: float) -> None:
    assert widened_quantile(n, 0.95) == pytest.approx(t * np.sqrt(n / (n - 1)), rel=3e-4)


@given(st.integers(2, 10_000), st.floats(0.5, 0.999))
def test_widened_quantile_is_wider_than_the_normal_and_falls_to_it(n: int, level: float) -> None:
    normal = stats.norm.isf((1 - level) / 2)
    assert widened_quantile(n, level) > widened_quantile(n + 1, level) > normal
    assert widened_quantile(10**7, level) == pytest.approx(normal, rel=1e-5)
