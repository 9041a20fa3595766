"""Real JavaScript as an outside oracle, where `node` is installed."""
import json
import shutil
import struct
import subprocess
from typing import Any

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None, reason="node is not on PATH, so JavaScript cannot be asked; tables of known values are checked anyway")


def ask(program: str, cases: list[Any]) -> list[Any]:
    """What the JavaScript function *program* answers for each of *cases*, in one process."""
    code = f"""
        const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
        process.stdout.write(JSON.stringify(given.map({program})));
    """
    done = subprocess.run([NODE or "node", "-e", code], input=json.dumps(cases), capture_output=True, encoding="utf-8",
                          check=True)
    answers = json.loads(done.stdout)
    assert len(answers) == len(cases)
    return list(answers)


DECODE = """
    function decode(it) {
        if (it === null || typeof it === "boolean") return it;
        if ("number" in it) return Buffer.from(it.number, "hex").readDoubleBE(0);
        if ("string" in it) return String.fromCharCode(...it.string);
        if ("list" in it) return it.list.map(decode);
        return Object.fromEntries(it.dict.map(([key, value]) => [decode(key), decode(value)]));
    }
"""
"""Reads what `neutral` writes."""


def neutral(value: Any) -> Any:
    """*value* in a form in which no spelling of a number and no encoding of a string plays a part."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return {"number": struct.pack(">d", value).hex()}
    if isinstance(value, str):
        data = value.encode("utf-16-be", "surrogatepass")
        return {"string": [high << 8 | low for high, low in zip(data[::2], data[1::2], strict=True)]}
    if isinstance(value, list):
        return {"list": [neutral(item) for item in value]}
    return {"dict": [[neutral(key), neutral(item)] for key, item in value.items()]}
