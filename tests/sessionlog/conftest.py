"""A store of each kind, empty, in a folder that is not there yet."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sessionlog.stores import KINDS, Kind


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def store(kind: Kind, folder: Path) -> Any:
    return kind.open(folder)


@pytest.fixture
def held(kind: Kind, folder: Path) -> Callable[[], Any]:
    """What is stored, to compare with later."""
    return lambda: kind.held(folder)
