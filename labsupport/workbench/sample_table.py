"""The table that the sample sessions talk about, data/outpatient.csv, and the tools that read it for them.

It is made up: outpatient tests of three clinics over two years. One thing happened in it that is worth finding: hillside
could not run thyroid tests in June and July 2025, and repeated many in August.
"""
import csv
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from labsupport.miniagent import Tool
from labsupport.miniagent.cli import tools
from labsupport.own import DATA, own_seed

NAME = "outpatient.csv"
HEADER = ("year", "month", "clinic", "test", "count", "repeats")
CLINICS = {"riverside": (310, 1.06), "harbour": (190, 0.97), "hillside": (120, 0.99)}  # tests a month; 2025 against 2024
TESTS = {"glucose": 1.0, "lipids": 0.6, "thyroid": 0.35}
YEARS = (2024, 2025)


def write_table(path: Path, seed: int = own_seed(34)) -> None:
    """Write the table to *path*, the same bytes for the same *seed*: one row a year, month, clinic and test."""
    random = Random(seed)
    rows: list[tuple[object, ...]] = []
    for year in YEARS:
        for month in range(1, 13):
            for clinic, (monthly, growth) in CLINICS.items():
                for test, share in TESTS.items():
                    usual = monthly * share * (growth if year == YEARS[-1] else 1)
                    count = round(usual * (0.9 + 0.2 * random.random()))
                    repeats = round(count * (0.01 + 0.04 * random.random()))
                    if (year, clinic, test) == (2025, "hillside", "thyroid") and month in (6, 7, 8):
                        count, repeats = (0, 0) if month < 8 else (count, count // 4)
                    rows.append((year, month, clinic, test, count, repeats))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def table_tools() -> Mapping[str, Tool]:
    """The tool of the command line, `sum_column`, and two more over the same table."""
    return {**tools(), "filter_rows": filter_rows, "year_on_year": year_on_year}


def filter_rows(given: Any) -> str:
    """The rows of *file* in which each column of *where* has the given text, as CSV with the columns *columns*."""
    columns = given["columns"]
    return "\n".join(",".join(row[name] for name in columns) for row in [dict(zip(HEADER, HEADER, strict=True)), *_rows(given)])


def year_on_year(given: Any) -> str:
    """The sum of *column* in both years over the rows of *where*, and the change in per cent."""
    before, after = (sum(int(row[given["column"]]) for row in _rows(given) if row["year"] == str(year)) for year in YEARS)
    return f"{YEARS[0]}: {before:,}; {YEARS[1]}: {after:,}; {100 * (after - before) / before:+.1f} %"


def _rows(given: Any) -> list[dict[str, str]]:
    if given["file"] != NAME:
        raise FileNotFoundError(f"there is only {NAME}")
    with (DATA / NAME).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if all(row[key] == text for key, text in given.get("where", {}).items())]
