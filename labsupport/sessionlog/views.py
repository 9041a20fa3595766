"""A read-only list of fixed length over storage that may grow: what was handed out never changes, and nothing is copied."""
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class View(Sequence[T], Generic[T]):
    """The first *length* items of *storage*, which only ever grows at its end.

    >>> storage = [1, 2]
    >>> view = View(storage)
    >>> storage.append(3); list(view), view[-1], view == [1, 2]
    ([1, 2], 2, True)
    """

    __slots__ = ("_length", "_storage")

    def __init__(self, storage: list[T], length: int | None = None) -> None:
        self._storage, self._length = storage, len(storage) if length is None else length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self._storage[slice(*index.indices(self._length))] if index.step is None else [
                self._storage[at] for at in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(f"index {index} of {self._length} items")
        return self._storage[index if index >= 0 else self._length + index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._storage[:self._length])

    def __reversed__(self) -> Iterator[T]:
        return islice(reversed(self._storage), len(self._storage) - self._length, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (View, list, tuple)) and len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._length} items, read only>"
