"""One session and its summaries: a good one, and for each of the six checks a bad one and a paraphrase that it gets wrong."""
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from labsupport.sessionlog import Session
from labsupport.sessionlog.passages import leaves
from labsupport.sessionlog.quality import Check
from labsupport.workbench.text import Language

Line = Literal["rule", "correction", "paid", "failed", "open", "payee"]

SAID: dict[Language, dict[str, str]] = {
    "en": {
        "first": "Pay invoice INV-2061 for Anna Miller, 1,480.00. Never mail a supplier.",
        "paid": "accepted: INV-2061, 1,480.00, operation op-0417",
        "failed": "Error: OSError: the disk is full",
        "task": "Check whether INV-2062 is due",
        "answer": "INV-2061 is paid. Next: check INV-2062 against data/books.csv.",
        "second": "Correction: the monthly limit is 2,000.00 instead of 5,000.00.",
        "noted": "Noted.",
    },
    "zh": {
        "first": "请支付发票 INV-2061，收款人张伟医生，金额 1,480.00。不要给供应商发邮件。",
        "paid": "已受理：INV-2061，1,480.00，操作号 op-0417",
        "failed": "Error: OSError: 磁盘已满",
        "task": "核对 INV-2062 是否到期",
        "answer": "INV-2061 已支付。下一步：用 data/books.csv 核对 INV-2062。",
        "second": "更正：每月上限改为 2,000.00，而不是 5,000.00。",
        "noted": "好的。",
    },
}
PHONE = "138 0013 8000"
"""The payee's, which the payment tool keeps to itself: it stands in the meta of a result, and in no message."""

GOOD: dict[Language, dict[Line, str]] = {
    "en": {
        "rule": "Rule of the user: never mail a supplier.",
        "correction": "Corrected by the user: the monthly limit is 2,000.00 instead of 5,000.00.",
        "paid": "Paid: INV-2061 for Anna Miller, 1,480.00, operation op-0417.",
        "failed": "The call of export_books failed: the disk is full.",
        "open": "Open: check whether INV-2062 is due. Next: check INV-2062 against data/books.csv.",
        "payee": "The payment tool knows how to reach the payee.",
    },
    "zh": {
        "rule": "用户的规矩：不要给供应商发邮件。",
        "correction": "用户更正：每月上限改为 2,000.00，而不是 5,000.00。",
        "paid": "已支付：INV-2061，张伟医生，1,480.00，操作号 op-0417。",
        "failed": "export_books 调用失败：磁盘已满。",
        "open": "待办：核对 INV-2062 是否到期。下一步：用 data/books.csv 核对 INV-2062。",
        "payee": "收款人的联系方式由支付工具保管。",
    },
}


@dataclass(frozen=True)
class Example:
    """Three summaries of the session for one check. Each differs from the *good* one in one line.

    The *bad* one is found out. The *paraphrased* one shows where the check is wrong: a faithful summary that it objects to
    (*false_alarm*), or a bad one that it passes.
    """

    check: Check
    good: str
    bad: str
    paraphrased: str
    false_alarm: bool


CHANGES: dict[Check, dict[Language, tuple[tuple[Line, str], tuple[Line, str]]]] = {
    "constraints": {
        "en": (("rule", "The user talked about mail to suppliers."),
               ("rule", "Suppliers get phone calls, and mail is off the table.")),
        "zh": (("rule", "用户谈到过给供应商发邮件的事。"), ("rule", "邮件联系供应商这件事已经叫停。")),
    },
    "tasks": {
        "en": (("open", "The invoices were looked at, INV-2062 in data/books.csv too."),
               ("open", "Somebody has to find out from data/books.csv when INV-2062 falls due.")),
        "zh": (("open", "发票都看过了，INV-2062 也在 data/books.csv 里。"),
               ("open", "INV-2062 到没到期，得对着 data/books.csv 再看一眼。")),
    },
    "outcomes": {
        "en": (("paid", "Paid: INV-2061 for Anna Miller, 1,480.00."),
               ("failed", "export_books did not get through, as the disk is full.")),
        "zh": (("paid", "已支付：INV-2061，张伟医生，1,480.00。"), ("failed", "export_books 没跑通：磁盘已满。")),
    },
    "behaviour": {
        "en": (("paid", "INV-2061 for Anna Miller is about 1,480.00."),
               ("paid", "INV-2061 for Anna Miller, 1,480.00, is settled.\nThe bank knows that payment as op-0417.")),
        "zh": (("paid", "INV-2061 是张伟医生的，金额 1,480.00。"),
               ("paid", "INV-2061（张伟医生，1,480.00）已经结清。\n银行那边的操作号是 op-0417。")),
    },
    "invented": {
        "en": (("payee", "The payment was approved by Bob under op-0999."), ("payee", "A dozen reminders went out.")),
        "zh": (("payee", "付款由李主任批准，操作号 op-0999。"), ("payee", "已经发出十几封提醒。")),
    },
    "exposed": {
        "en": (("payee", f"The payee's phone is {PHONE}."),
               ("payee", "The payee's phone is one three eight, double zero, one three, eight thousand.")),
        "zh": (("payee", f"收款人的电话是 {PHONE}。"), ("payee", "收款人的电话是幺三八零零幺三八零零零。")),
    },
}


def example(check: Check, lang: Language) -> Example:
    """The three summaries for *check*.

    >>> print(example("constraints", "en").bad.splitlines()[0])
    The user talked about mail to suppliers.
    """
    bad, paraphrased = CHANGES[check][lang]
    return Example(check, summary(lang), summary(lang, bad), summary(lang, paraphrased), check not in ("invented", "exposed"))


def summary(lang: Language, *changed: tuple[Line, str]) -> str:
    """The good summary, with some lines *changed*."""
    return "\n".join({**GOOD[lang], **dict(changed)}.values())


def bookkeeper(messages: Sequence[Any]) -> Mapping[str, Any]:
    """A scripted policy for "has INV-2061 been paid?": it pays, unless a line names an operation beside the invoice."""
    lines = [line for message in messages for text in leaves(message) for line in text.split("\n")]
    proof = next((hit[0] for line in lines if "INV-2061" in line and (hit := re.search(r"op-\d+", line))), None)
    if proof is None:
        return {"name": "pay", "arguments": {"invoice": "INV-2061"}}
    return {"name": "say", "arguments": {"paid": proof}}


def talk(lang: Language) -> Session:
    """The session: a payment that went well, an export that failed, a task left open, a correction.

    >>> session = talk("en")
    >>> len(session.surface.nodes), session.derive_messages()[0]["content"][0]["text"].split(".")[0]
    (7, 'Pay invoice INV-2061 for Anna Miller, 1,480')
    """
    said, session = SAID[lang], Session.create("summaries")
    session.append("turn/start", {"turn": 1})
    session.append("step/start", {"turn": 1, "step": 1})
    _user(session, said["first"])
    calls = {"c1": ("pay", '{"invoice": "INV-2061", "amount": "1,480.00"}'), "c2": ("export_books", '{"to": "data/books.csv"}')}
    asked = [{"type": "tool-call", "id": id, "name": name, "arguments": text} for id, (name, text) in calls.items()]
    _assistant(session, 1, 1, asked)
    _tool(session, "c1", *calls["c1"], said["paid"], {"meta": {"payee": {"phone": PHONE}}})
    _tool(session, "c2", *calls["c2"], said["failed"], {"error": {"name": "OSError", "code": "TOOL_FAILED"}})
    session.append("todo/write", {"todos": [{"content": said["task"], "status": "pending"}]})
    session.append("step/end", {"turn": 1, "step": 1})
    session.append("step/start", {"turn": 1, "step": 2})
    _assistant(session, 1, 2, [{"type": "text", "text": said["answer"]}])
    session.append("step/end", {"turn": 1, "step": 2})
    session.append("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    session.append("turn/start", {"turn": 2})
    session.append("step/start", {"turn": 2, "step": 1})
    _user(session, said["second"])
    _assistant(session, 2, 1, [{"type": "text", "text": said["noted"]}])
    session.append("step/end", {"turn": 2, "step": 1})
    session.append("turn/end", {"turn": 2, "reason": {"kind": "completed"}})
    return session


def _user(session: Session, text: str) -> None:
    session.append("user/message", {"id": f"m{len(session.events)}", "role": "user", "source": {"kind": "user"},
                                    "content": [{"type": "text", "text": text}]}, "append")


def _assistant(session: Session, turn: int, step: int, content: Sequence[Any]) -> None:
    message = {"id": f"m{len(session.events)}", "role": "assistant", "content": list(content),
               "source": {"kind": "model", "provider": "workbook", "model": "scripted-1"}}
    session.append("assistant/message", {"turn": turn, "step": step, "message": message}, "append")


def _tool(session: Session, id: str, name: str, arguments: str, text: str, more: Mapping[str, Any]) -> None:
    called = session.append("tool/call", {"turn": 1, "step": 1, "callId": id, "name": name, "arguments": arguments})
    block = {"type": "tool-result", "toolCallId": id, "isError": "error" in more, "content": [{"type": "text", "text": text}]}
    message = {"id": f"m{called.seq + 1}", "role": "user", "source": {"kind": "tool", "callId": id}, "content": [block]}
    session.append("tool/result", {"turn": 1, "step": 1, "message": message, **more}, "append", [called.seq])
