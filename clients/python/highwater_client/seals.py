"""Receipts of signals, checked with the public chain of seals, as docs/subscribing.md describes it."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any, Callable, Iterable, Mapping, NoReturn

from .transport import HighwaterError
from .verify import is_signed

Read = Callable[[str], "bytes | None"]
MOST_SEALS = 6  # that may pass before a signal is in one of them
OTHER = "another chain is shown to you than before"
BATCH = re.compile(r"after (0|[1-9][0-9]*)\n([0-9a-f]{64}\n)*")
SHAPE = re.compile(
    r"(highwater/seal/v1\n(?P<origin>\S+)\n(?P<n>\d{9})\n(?P<begin>(?P<day>\d{4}-\d\d-\d\d)\S{10}) (?P<end>\S{20})\n"
    r"(?P<commitment>\S{44})\n(?P<prev>\S{44})\n\d{9} \S{44}\n)\n— \S+ (?P<signature>\S+)\n"
)


def check_seals(
    receipts: Iterable[Mapping[str, Any]], delivered: Mapping[int, str], read: Read, state: Mapping[str, Any]
) -> dict[str, Any]:
    """Checks that each receipt is of the signal as it was delivered, that its batch is in its seal, and that the chain
    continues from `state["head"]`. Gives the next state; keep it, so that the chain of tomorrow is compared with that of today.

    `delivered` has the exact text of signals by their numbers, `read` finds an object by its name below `v1/seals/`, and the
    first state is `{"checked_seq": 0}`: signals up to that number are checked. Raises HighwaterError `seal_mismatch`, also for
    the `fault` of a state, or `not_published` if nothing is sealed yet.
    """
    if state.get("fault"):
        _fail(state["fault"])
    known, since, rows = state.get("head"), state["checked_seq"], list(receipts)

    def get(name: str) -> bytes:
        found = read(name)
        return found or _fail(f"{name} of the seals is missing: {OTHER}", "seal_mismatch" if known else "not_published")

    head = _parse(get("head"))
    if known and head["n"] < known["n"]:
        head = _parse(get(f"{known['n']:09}"))  # a cache may have an old head
    shown = [row for row in rows if row["n"] <= head["n"]]  # a later one is published in a moment
    seals = _chain(read, head, known or head, min([head["n"], *(row["n"] for row in shown)]))
    if known and seals[known["n"]]["digest"] != known["digest"]:
        _fail(f"seal {known['n']} is not the one that you saw: {OTHER}")
    key = known["key"] if known else get(f"keys/{head['origin'].split('/')[1]}.pem").decode()
    if not is_signed(key, head["text"].encode(), b64decode(head["signature"])[4:]):
        _fail(f"seal {head['n']} is not signed by the key that you know: {OTHER}")
    for row in shown:
        _check_receipt(row, delivered.get(row["seq"]), seals.get(row["n"], {}).get("commitment"))
    checked, sealed = shown[-1]["seq"] if shown else since, {row["seq"] for row in rows}
    seq = min((each for each in delivered if each > since and each not in sealed), default=None)
    waiting = None if seq is None else {"seq": seq, "n": head["n"]}
    if seq is not None and (state.get("waiting") or {}).get("seq") == seq:
        waiting = state["waiting"]
    if waiting and (waiting["seq"] < checked or head["n"] > waiting["n"] + MOST_SEALS):
        left_out = "it was left out, or is no longer one of yours"
        _fail(f"signal {seq} was delivered to you, and no seal up to {head['n']} has it: {left_out}")
    kept = {name: head[name] for name in ("n", "digest", "origin")}
    return {"checked_seq": checked, "head": {**kept, "key": key}, "waiting": waiting}


def _fail(sentence: str, code: str = "seal_mismatch") -> NoReturn:
    raise HighwaterError(code, sentence)


def _parse(content: bytes) -> dict[str, Any]:
    found = SHAPE.fullmatch(content.decode(errors="replace"))
    if found is None:
        _fail("a published seal has another form: it was altered")
    digest = b64encode(sha256(content).digest()).decode()
    return {**found.groupdict(), "text": found[1], "n": int(found["n"]), "digest": digest}


def _chain(read: Read, head: dict[str, Any], known: Mapping[str, Any], first: int) -> dict[int, dict[str, Any]]:
    """The seals from the head back to the known one; if an earlier one is needed, the first, back to it and over whole days, so
    that no read says in which seal a signal is. Those of a day that is over are in one file."""
    seals, shown, at, today = {head["n"]: head}, {}, head, head["end"][:10]
    while True:
        if at["origin"] != known["origin"]:
            _fail(f"seal {at['n']} is of {at['origin']}, not of {known['origin']}: another chain began; ask why")
        n, day = at["n"] - 1, at["day"]
        if n == 0 or n < min(first, known["n"]) and (first >= known["n"] or day != today):
            return seals
        if n not in shown:
            content = read(f"days/{day}" if day < today else f"{n:09}") or b""
            shown.update({int(each["n"]): each[0] for each in SHAPE.finditer(content.decode(errors="replace"))})
        before = _parse(shown.get(n, "").encode() or _fail(f"seal {n} is missing: withheld or removed"))
        if (at["prev"], at["begin"]) != (before["digest"], before["end"]):
            _fail(f"seal {at['n']} does not continue seal {n}: one of the two was altered, or the chain was forked")
        seals[n] = at = before


def _check_receipt(row: Mapping[str, Any], item: str | None, commitment: str | None) -> None:
    if not BATCH.fullmatch(row["batch"]):
        _fail(f"the batch of signal {row['seq']} has another form: it was altered")
    salt, seal_salt = b64decode(row["r"]), b64decode(row["s_n"])
    line = sha256(salt + (item or "").encode()).hexdigest()
    if item is not None and (len(salt) != 32 or line not in row["batch"].split("\n")):
        _fail(f"signal {row['seq']} as it was delivered is not in the batch of seal {row['n']}: it was altered")
    digest = sha256(seal_salt + sha256(row["batch"].encode()).digest()).digest()
    if len(seal_salt) != 32 or b64encode(digest).decode() != commitment:
        _fail(f"the batch of signal {row['seq']} is not what seal {row['n']} commits to: it was altered later")
