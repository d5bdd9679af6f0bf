"""Live signals: pulled with a key, and verified when they are pushed to a webhook."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence
from urllib.parse import quote, urlencode

from .seals import Read, check_seals
from .transport import Answer, HighwaterError, Transport, replace
from .verify import find

CHECK_EVERY = 720  # seconds, whether there are signals or not: the rhythm of the requests says nothing of them


class Signals:
    """The signals that a key is entitled to, at the address of a signals service.

    What is known of their seals is kept in the file `seals`, or in memory without one; `seals=False` checks nothing by itself.
    The seals are read at `history`, the address of the history service that you know; without it, where the service says.
    """

    def __init__(
        self,
        base: str,
        key: str,
        *,
        timeout: float = 60,
        retries: int = 4,
        seals: str | Path | bool = True,
        history: str | None = None,
    ) -> None:
        self._transport = Transport("signals", base, timeout, retries, {"X-API-Key": key})
        self._seals, self._path = seals, None if isinstance(seals, bool) else Path(seals).expanduser()
        self._history = history
        self._delivered: dict[int, str] = {}
        self._last = float("inf")
        self._state: dict[str, Any] | None = None
        if self._path and self._path.exists():
            self._state = json.loads(self._path.read_bytes())

    def head(self) -> dict[str, Any]:
        """`seq` of your newest signal, and `epoch`, which names this history of the log."""
        return dict(self._transport.get("/v1/signals/head").json()["data"])

    def endpoints(self) -> list[dict[str, Any]]:
        """Your endpoints, `default` first: health, settings, and what they are owed."""
        return list(self._ask("GET", "/v1/endpoints"))

    def set_endpoint(self, name: str, url: str, **more: Any) -> dict[str, Any]:
        """Sets an endpoint if its address acknowledges a signed test; `more` may have `secret` and `headers`. The answer has the
        secret if it was made there."""
        return dict(self._ask("PUT", _endpoint(name), {"url": url, **more}))

    def change_endpoint(self, name: str, **changes: Any) -> dict[str, Any]:
        """Sets `paused`, `filter`, `headers` and `expire_entries_after_s`; what is left out stays as it is."""
        return dict(self._ask("PATCH", _endpoint(name), changes))

    def remove_endpoint(self, name: str) -> None:
        """Nothing more is sent there."""
        self._ask("DELETE", _endpoint(name))

    def rotate_secret(self, name: str, **overlap: float) -> dict[str, Any]:
        """Makes a new secret, which only this answer shows; the old one also signs for a day, or for `overlap_hours`."""
        return dict(self._ask("POST", _endpoint(name) + "/rotate", overlap))

    def test_endpoint(self, name: str) -> dict[str, Any]:
        """Fires a test signal to one endpoint, and gives its number."""
        return dict(self._ask("POST", _endpoint(name) + "/test"))

    def deliveries(self, **query: Any) -> Iterator[dict[str, Any]]:
        """The deliveries to your endpoints, newest first, page by page: end it when you have enough. `query` may have `endpoint`,
        `alias`, `status`, `fired_from`, `fired_to`, `seq`, `before`, `limit`."""
        path: str | None = f"/v1/deliveries?{urlencode(query)}".rstrip("?")
        while path is not None:
            answer = self._transport.get(path).json()
            yield from answer["data"]
            path = answer["links"].get("next")

    def delivery(self, seq: int) -> dict[str, Any]:
        """What became of a signal at each endpoint, its attempts, and why it was not sent if it was not."""
        return dict(self._ask("GET", f"/v1/deliveries/{seq}"))

    def resend(self, start: int, end: int | None = None, **more: Any) -> dict[str, Any]:
        """Sends the signals from one number to another again, to `endpoint` or all; `more` may have `only`, `fired_from`, and
        `dry_run=True`, with which they are only counted."""
        return dict(self._ask("POST", "/v1/resend", {"from": start, **({} if end is None else {"to": end}), **more}))

    def notices(self) -> list[dict[str, Any]]:
        """What your account needs attention for, newest first."""
        return list(self._ask("GET", "/v1/notices"))

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        return self._transport.send(method, path, body).json()["data"]

    def signals(
        self, since: int = 0, *, poll: float | None = None, page: int = 1000, endpoint: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Every signal after the number `since`, ascending by `seq` and each once, whatever a webhook missed.

        It ends after the newest signal, or pulls again every `poll` seconds for ever, `page` signals per request. A new
        epoch means that the log was restored: everything after `since` is pulled again, and the signals that this
        iterator has passed are left out. `expired` names the endpoints that an entry was too old to be sent
        to. With `endpoint`, only what that one is to be sent by its filter. If it raises, begin again after the last number that you processed. With `poll` it
        also calls check_seals() at first and every 12 minutes, on a thread: `seal_mismatch` is raised, any other error is a
        warning.
        """
        epoch, last, passed = None, since, set()
        turn, check = 0.0, threading.Thread()
        self._state, self._last = self._state or {"checked_seq": since}, since
        while True:
            now = self.head()["epoch"]
            epoch, last = now, last if epoch in (None, now) else since
            query = {"since": last, "limit": page, **({} if endpoint is None else {"endpoint": endpoint})}
            path: str | None = f"/v1/signals/history?{urlencode(query)}"
            while path is not None:
                page_of = self._transport.get(path)
                answer = page_of.json()
                expired = {row["seq"]: row["endpoints"] for row in answer.get("meta", {}).get("expired", ())}
                for signal, text in zip(answer["data"], _texts_of(page_of)):
                    last = signal["seq"]
                    if self._seals:
                        self._delivered[last] = text
                    self._last = last
                    if signal["signal_id"] not in passed:
                        passed.add(signal["signal_id"])
                        yield {**signal, "expired": expired[last]} if last in expired else signal
                path = answer["links"].get("next")
            if poll is None:
                return
            if self._seals and "fault" in self._state:
                raise HighwaterError("seal_mismatch", self._state["fault"])
            if self._seals and turn != time.time() // CHECK_EVERY and not check.is_alive():
                turn, check = time.time() // CHECK_EVERY, threading.Thread(target=self._check, name="seals", daemon=True)
                check.start()
            time.sleep(poll)

    def _check(self) -> None:
        try:
            self.check_seals()
        except Exception as error:
            if getattr(error, "code", "") != "seal_mismatch":
                warnings.warn(f"seals are not checked: {error}", stacklevel=2)

    def check_seals(self) -> dict[str, Any]:
        """Checks that the signals that were yielded are in the seals that everybody sees, and gives what is known of these.

        Raises HighwaterError `seal_mismatch` if not, and again at each further call until the file `seals` is removed; any
        other error says why nothing was checked. Call it at times that do not depend on signals: it reads public files, and who
        sees the requests would know when a signal was given.
        """
        state = self._state or {"checked_seq": 0}
        try:
            self._state = check_seals(*self._receipts(state), state)
        except HighwaterError as error:
            if error.code != "seal_mismatch":
                raise
            self._state = {**state, "fault": error.message}
            raise
        finally:
            if self._path and self._state:
                replace(self._path, json.dumps(self._state).encode())
        for seq in [each for each in [*self._delivered] if each <= self._state["checked_seq"]]:
            del self._delivered[seq]
        return self._state

    def _receipts(self, state: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[int, str], Read]:
        if "fault" in state:
            return [], {}, lambda name: None  # the check fails all the same
        answer = self._transport.get(f"/v1/signals/seals?since={state['checked_seq']}").json()
        receipts, seals = answer["data"], answer["links"].get("seals")
        if self._history is None and seals is None:
            raise HighwaterError("not_published", "the service does not say where its seals are")
        while "next" in answer["links"]:
            answer = self._transport.get(answer["links"]["next"]).json()
            receipts += answer["data"]
        base = self._history or seals.replace("/v1/seals/", "")
        history = Transport("history", base, self._transport.timeout, self._transport.retries)
        pulled = [row for row in receipts if row["seq"] <= self._last]  # a later one is checked when its signal is here
        return pulled, dict(self._delivered), lambda name: find(history, f"/v1/seals/{name}")


def _endpoint(name: str) -> str:
    return f"/v1/endpoints/{quote(name, safe='')}"


def _texts_of(page: Answer) -> Iterator[str]:
    """The exact text of each row: serialised again it may differ."""
    text, decode = page.body.decode(), json.JSONDecoder().raw_decode
    at = text.index("[") + 1
    while text[at] != "]":
        end = decode(text, at)[1] if text[at] == "{" else at + 1
        if end > at + 1:
            yield text[at:end]
        at = end


def verify_webhook(
    headers: Mapping[str, str],
    body: bytes,
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    on_notice: Callable[[dict[str, Any]], Any] | None = None,
) -> dict[str, Any]:
    """The signal of a delivery, after its `webhook-signature` and its time are checked.

    `body` is the raw bytes, `secret` that of your webhook; while you change it, the new one and the old one. Raises
    HighwaterError `bad_signature` if no secret has signed it, or if its time differs by more than `tolerance` seconds,
    as that of a delivery which somebody recorded and sends again, `notice` if it is a notice, which is no signal and has no
    number, after `on_notice` got it, and `bad_request` for any other body: `status` is what to answer.
    """
    given = {name.lower(): value for name, value in headers.items()}
    sent, signatures = given.get("webhook-timestamp", ""), given.get("webhook-signature", "").encode().split()
    message = f"{given.get('webhook-id')}.{sent}.".encode() + body
    keys = [_key_of(each) for each in ([secret] if isinstance(secret, str) else secret)]
    expected = [b"v1," + base64.b64encode(hmac.new(key, message, "sha256").digest()) for key in keys]
    if not any([hmac.compare_digest(one, other) for one in expected for other in signatures]):
        raise HighwaterError("bad_signature", "the delivery is not signed with your secret, or was altered", 401)
    if abs(time.time() - int(sent)) > tolerance:
        reason = f"the delivery was signed at {sent}, which differs from this clock by more than {tolerance} s"
        raise HighwaterError("bad_signature", reason, 401)
    fields: dict[str, Any] = {}
    with suppress(ValueError, TypeError):
        fields = dict(**json.loads(body))
    if isinstance(fields.get("signal_id"), str) and isinstance(fields.get("seq"), int):
        return fields
    if isinstance(fields.get("event"), str) and "seq" not in fields:
        if on_notice:
            on_notice(fields)
        reason = f"a notice, {fields['event']}, and no signal: nothing is to be done for it"
        raise HighwaterError("notice", reason, 204)
    raise HighwaterError("bad_request", "the body of the delivery is not a signal", 400)


def _key_of(secret: str) -> bytes:
    prefix, encoded = secret[:6], secret[6:]
    if prefix != "whsec_" or len(encoded) != 44:
        raise ValueError("a webhook secret is whsec_ and 32 bytes in base64: copy it whole")
    return base64.b64decode(encoded, validate=True)
