"""Receipts of signals, checked with the public chain of seals, as docs/subscribing.md describes it."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from datetime import date, timedelta
from hashlib import sha256
from typing import Any, Callable, Iterable, Mapping, NoReturn

from .transport import HighwaterError
from .verify import is_signed

Read = Callable[[str], "bytes | None"]
MOST_SEALS = 6  # that may pass before a signal is in one of them
OTHER = "another chain is shown to you than before"
SHAPE = re.compile(
    r"(highwater/seal/v1\n(?P<origin>\S+)\n(?P<n>\d{9})\n(?P<begin>\S{20}) (?P<end>\S{20})\n(?P<commitment>\S{44})\n"
    r"(?P<prev>\S{44})\n\d{9} \S{44}\n)\n— \S+ (?P<signature>\S+)\n"
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
    begin = min([known["n"] if known else head["n"], *(row["n"] for row in shown)])
    first = known if known and begin == known["n"] else _parse(read(f"{begin:09}") or get(f"{1:09}"))
    seals = _chain(read, begin, first["date"], (known or head)["origin"], head)
    if known and seals[known["n"]]["digest"] != known["digest"]:
        _fail(f"seal {known['n']} is not the one that you saw: {OTHER}")
    key = known["key"] if known else get(f"keys/{head['origin'].split('/')[1]}.pem").decode()
    if not is_signed(key, head["text"].encode(), b64decode(head["signature"])[4:]):
        _fail(f"seal {head['n']} is not signed by the key that you know: {OTHER}")
    for row in shown:
        _check_receipt(row, delivered.get(row["seq"]), seals[row["n"]]["commitment"])
    checked, sealed = shown[-1]["seq"] if shown else since, {row["seq"] for row in rows}
    seq = min((each for each in delivered if each > since and each not in sealed), default=None)
    waiting = None if seq is None else {"seq": seq, "n": head["n"]}
    if seq is not None and (state.get("waiting") or {}).get("seq") == seq:
        waiting = state["waiting"]
    if waiting and (waiting["seq"] < checked or head["n"] > waiting["n"] + MOST_SEALS):
        left_out = "it was left out, or is no longer one of yours"
        _fail(f"signal {seq} was delivered to you, and no seal up to {head['n']} has it: {left_out}")
    kept = {name: head[name] for name in ("n", "digest", "origin", "date")}
    return {"checked_seq": checked, "head": {**kept, "key": key}, "waiting": waiting}


def _fail(sentence: str, code: str = "seal_mismatch") -> NoReturn:
    raise HighwaterError(code, sentence)


def _parse(content: bytes) -> dict[str, Any]:
    found = SHAPE.fullmatch(content.decode(errors="replace"))
    if found is None:
        _fail("a published seal has another form: it was altered")
    digest = b64encode(sha256(content).digest()).decode()
    return {**found.groupdict(), "text": found[1], "n": int(found["n"]), "digest": digest, "date": found["end"][:10]}


def _chain(read: Read, begin: int, day: str, origin: str, head: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The seals from a number, of a day, to the head: of each day that is over from its file, else one by one."""
    seals = {head["n"]: head}
    while day < head["date"]:
        for found in SHAPE.finditer((read(f"days/{day}") or b"").decode(errors="replace")):
            seals[int(found["n"])] = _parse(found[0].encode())
        day = str(date.fromisoformat(day) + timedelta(days=1))
    for n in range(begin, head["n"] + 1):
        if n not in seals:
            seals[n] = _parse(read(f"{n:09}") or _fail(f"seal {n} is missing: withheld or removed"))
        seal, before = seals[n], seals.get(n - 1) if n > begin else None
        if seal["n"] != n or before and (seal["prev"], seal["begin"]) != (before["digest"], before["end"]):
            _fail(f"seal {n} does not continue seal {n - 1}: one of the two was altered, or the chain was forked")
        if seal["origin"] != origin:
            _fail(f"seal {n} is of {seal['origin']}, not of {origin}: another chain began; ask why")
    return seals


def _check_receipt(row: Mapping[str, Any], item: str | None, commitment: str) -> None:
    salt, seal_salt = b64decode(row["r"]), b64decode(row["s_n"])
    line = sha256(salt + (item or "").encode()).hexdigest()
    if item is not None and (len(salt) != 32 or line not in row["batch"].split("\n")):
        _fail(f"signal {row['seq']} as it was delivered is not in the batch of seal {row['n']}: it was altered")
    digest = sha256(seal_salt + sha256(row["batch"].encode()).digest()).digest()
    if len(seal_salt) != 32 or b64encode(digest).decode() != commitment:
        _fail(f"the batch of signal {row['seq']} is not what seal {row['n']} commits to: it was altered later")
