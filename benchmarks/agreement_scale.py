"""Time `agreement.coefficients.patterns` and alpha on a long table of four million rows, by engine.

Usage: python benchmarks/agreement_scale.py [--rows 4000000] [--spark]

A synthetic study: three coders on every unit, five ordered values, a fifth of the values missing, ids as
text. Each engine runs in a process of its own, which makes the table, takes the patterns once cold and five
times warm, and reports the median of the warm runs to nominal and ordinal alpha together, with the peak
memory of the process beside what it was before the first run. For comparison: a two-level groupby in pandas
alone, which does not look for missing ids or for coders who stand on a unit twice. `--spark` adds a local
Spark (needs Java 17). Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

from sense7_qual.agreement._engines import patterns
from sense7_qual.agreement.coefficients import krippendorff_alpha
from sense7_qual.agreement.coefficients._patterns import Patterns

ENGINES = ["polars", "polars lazy", "duckdb", "parquet", "pandas", "pandas groupby"]
N_CODERS, N_VALUES, MISSING = 3, 5, 0.2


def study(n_rows: int) -> pl.DataFrame:
    """Make the long table: unit_id and coder as text, value 1–5 or missing."""
    n_units = -(-n_rows // N_CODERS)
    rng = np.random.default_rng(7)
    truth = np.repeat(rng.integers(1, N_VALUES + 1, n_units), N_CODERS)
    other = rng.integers(1, N_VALUES + 1, len(truth))
    value = np.where(rng.random(len(truth)) < 0.7, truth, other).astype(np.int8)
    unit = np.repeat(np.arange(n_units), N_CODERS)
    table = pl.DataFrame({"unit": unit, "coder": np.tile(["ana", "ben", "cem"], n_units), "value": value})
    missing = pl.Series(rng.random(len(truth)) < MISSING)
    return table.select(
        ("message-" + pl.col("unit").cast(pl.String)).alias("unit_id"),
        "coder",
        pl.when(~missing).then("value").alias("value"),
    ).head(n_rows)


def by_groupby(table: Any) -> Patterns:
    """Count the same patterns by pandas alone: a cross table per unit, then its distinct rows."""
    given = table.dropna(subset="value")
    counts = given.groupby(["unit_id", "value"]).size().unstack(fill_value=0)
    kinds = counts.groupby(list(counts.columns)).size()
    return Patterns(
        categories=counts.columns.to_numpy(dtype=np.float64),
        counts=np.array([list(key) for key in kinds.index], dtype=np.int64),
        n_units=kinds.to_numpy(dtype=np.int64),
    )


def opened(engine: str, table: pl.DataFrame, folder: Path) -> tuple[Any, Callable[[Any], Patterns]]:
    """Return the table as the engine holds it, and what takes its patterns."""
    if engine == "polars":
        return table, patterns
    if engine == "polars lazy":
        return table.lazy(), patterns
    if engine.startswith("pandas"):
        return table.to_pandas(), by_groupby if engine == "pandas groupby" else patterns
    path = folder / "ratings.parquet"
    table.write_parquet(path)
    if engine == "spark":
        return spark_table(path), patterns
    import duckdb

    connection = duckdb.connect()
    if engine == "parquet":  # read from the file at every query
        return connection.read_parquet(str(path)), patterns
    connection.read_parquet(str(path)).create("ratings")
    return connection.table("ratings"), patterns


def spark_table(path: Path) -> Any:
    """Return the file as a table of a local Spark."""
    import ibis
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "4g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return ibis.pyspark.connect(session).read_parquet(str(path))


def measure(engine: str, n_rows: int) -> dict[str, Any]:
    """Run one engine in this process."""
    with tempfile.TemporaryDirectory() as folder:
        table, take = opened(engine, study(n_rows), Path(folder))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        walls, cpus = [], []
        for _ in range(6 if engine != "spark" else 3):
            wall, cpu = time.perf_counter(), time.process_time()
            found = take(table)
            alphas = [krippendorff_alpha(found, level=level) for level in ("nominal", "ordinal")]
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "engine": engine,
        "cold": walls[0],
        "wall": median(walls[1:]),
        "cpu": median(cpus[1:]),
        "before": before / 1024,
        "peak": peak / 1024,
        "patterns": len(found.n_units),
        "units": int(found.n_units.sum()),
        "alphas": alphas,
    }


def main() -> None:
    """Measure every engine in its own process and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--spark", action="store_true", help="a local Spark, too (needs Java 17)")
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.engine:
        print(json.dumps(measure(arguments.engine, arguments.rows)))
        return
    rows = []
    for engine in ENGINES + ["spark"] * arguments.spark:
        command = [sys.executable, __file__, "--rows", str(arguments.rows), "--engine", engine]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    tell(rows, arguments.rows)


def tell(rows: list[dict[str, Any]], n_rows: int) -> None:
    """Print the table, and how far the engines' numbers are apart."""
    names = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "polars", "pandas", "ibis-framework"))
    print(
        f"{n_rows:,} rows, {rows[0]['units']:,} units with a value, {rows[0]['patterns']} patterns; {names}; "
    )
    print(f"{os.cpu_count()} CPUs.\n")
    heads = (
        "engine | cold s | warm s (wall) | wanted | warm s (CPU) | groupby's wall by it | peak MB (before)"
    )
    print(f"| {heads} | alpha nominal | ordinal |")
    print("|---" * 9 + "|")
    groupby = next(row["wall"] for row in rows if row["engine"] == "pandas groupby")
    for row in rows:
        cpu = "in Java" if row["engine"] == "spark" else f"{row['cpu']:.2f}"
        memory = f"{row['peak']:.0f} ({row['before']:.0f})"
        alphas = " | ".join(f"{alpha:.12f}" for alpha in row["alphas"])
        wall = f"{row['cold']:.2f} | {row['wall']:.2f} | under 1 | {cpu} | {groupby / row['wall']:.1f}"
        print(f"| {row['engine']} | {wall} | {memory} | {alphas} |")
    apart = np.ptp([row["alphas"] for row in rows], axis=0).max()
    print(f"\nLargest difference between engines: {apart:.1e}.")


if __name__ == "__main__":
    main()
