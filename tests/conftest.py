"""Settings that hold for every test: Hypothesis makes the same examples on every run, and no example has a deadline."""
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("workbook", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("workbook")


@pytest.fixture(scope="session")
def fresh_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A function that gives a path at which there is no file yet, for tests that need one in every example."""
    path = tmp_path_factory.mktemp("examples") / "session.jsonl"

    def fresh() -> Path:
        path.unlink(missing_ok=True)
        return path

    return fresh
