"""JSON values that nobody can change any more.

A frozen value is a dict or a list to every reader (it is equal to the plain one, and any JSON encoder takes it),
but it has no way to be changed. `thaw` gives a plain copy to work on.
"""
from typing import Any, NoReturn, overload


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("this value belongs to a record and cannot be changed; labsupport.frozen.thaw(value) gives a copy that can")


class FrozenDict(dict[str, Any]):
    """A dict that stays as it is.

    >>> kept = freeze({"rows": [1, 2]})
    >>> kept == {"rows": [1, 2]}
    True
    >>> kept["rows"].append(3)
    Traceback (most recent call last):
    TypeError: this value belongs to a record and cannot be changed; labsupport.frozen.thaw(value) gives a copy that can
    """

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __new__(cls, source: Any = ()) -> "FrozenDict":
        made = super().__new__(cls)
        dict.update(made, source)
        return made

    def __init__(self, source: Any = ()) -> None:
        """Nothing: a second call must not fill it again."""

    def __deepcopy__(self, memo: object) -> "FrozenDict":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list that stays as it is."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = remove = reverse = sort = (
        _refuse)

    def __new__(cls, source: Any = ()) -> "FrozenList":
        made = super().__new__(cls)
        list.extend(made, source)
        return made

    def __init__(self, source: Any = ()) -> None:
        """Nothing: a second call must not fill it again."""

    def __deepcopy__(self, memo: object) -> "FrozenList":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


@overload
def freeze(value: dict[Any, Any]) -> FrozenDict: ...
@overload
def freeze(value: list[Any]) -> FrozenList: ...
@overload
def freeze(value: object) -> object: ...
def freeze(value: object) -> object:
    """Copy the dicts and lists in *value* into frozen ones, at any depth; everything else is kept as it is.

    It judges nothing: a set or a cycle passes through, and is named where the value is written.
    """
    return _rebuild(value, FrozenDict, FrozenList)


def freeze_tree(value: Any) -> Any:
    """As `freeze`, several times as fast, for what a JSON decoder just made: nothing in it is shared, and no cycle.

    >>> type(freeze_tree({"rows": [1]})["rows"]).__name__
    'FrozenList'
    """
    try:
        return _freeze_tree(value)
    except RecursionError:
        return freeze(value)


def _freeze_tree(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        made = dict.__new__(FrozenDict)
        dict.update(made, {key: item if type(item) in _ATOMS else _freeze_tree(item) for key, item in value.items()})
        return made
    if kind is list:
        row = list.__new__(FrozenList)
        list.extend(row, [item if type(item) in _ATOMS else _freeze_tree(item) for item in value])
        return row
    return value


_ATOMS = frozenset({str, int, float, bool, type(None)})


def thaw(value: object) -> Any:
    """A copy of *value* made of plain dicts and lists.

    >>> rows = thaw(freeze([1, 2]))
    >>> rows.append(3); rows
    [1, 2, 3]
    """
    return _rebuild(value, dict, list)


def _rebuild(value: object, dict_type: type[dict[Any, Any]], list_type: type[list[Any]]) -> object:
    """Copy without the call stack, so that depth is bounded by memory alone; what is shared stays shared."""
    copies: dict[int, Any] = {}
    waiting: list[tuple[Any, Any]] = []

    def copy(item: object) -> object:
        if not isinstance(item, (dict, list)) or type(item) not in (dict, list, FrozenDict, FrozenList):
            return item
        if id(item) not in copies:
            copies[id(item)] = dict_type() if isinstance(item, dict) else list_type()
            waiting.append((item, copies[id(item)]))
        return copies[id(item)]

    result = copy(value)
    put, add = dict.__setitem__, list.append
    while waiting:
        source, target = waiting.pop()
        if isinstance(source, dict):
            for key, item in source.items():
                put(target, key, copy(item))
        else:
            for item in source:
                add(target, copy(item))
    return result


