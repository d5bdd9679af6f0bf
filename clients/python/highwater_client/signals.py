"""Live signals: pulled with a key, and verified when they are pushed to a webhook."""

from __future__ import annotations

import base64
import hmac
import json
import time
from contextlib import suppress
from typing import Any, Iterator, Mapping, Sequence

from .transport import HighwaterError, Transport


class Signals:
    """The signals that a key is entitled to, at the address of a signals service."""

    def __init__(self, base: str, key: str, *, timeout: float = 60, retries: int = 4) -> None:
        self._transport = Transport("signals", base, timeout, retries, {"X-API-Key": key})

    def head(self) -> dict[str, Any]:
        """`seq` of your newest signal, and `epoch`, which names this history of the log."""
        return dict(self._transport.get("/v1/signals/head").json()["data"])

    def signals(self, since: int = 0, *, poll: float | None = None, page: int = 1000) -> Iterator[dict[str, Any]]:
        """Every signal after the number `since`, ascending by `seq` and each once, whatever a webhook missed.

        It ends after the newest signal, or pulls again every `poll` seconds for ever, `page` signals per request. A new
        epoch means that the log was restored: everything after `since` is pulled again, and the signals that this
        iterator has passed are left out. If it raises, begin again after the last number that you processed.
        """
        epoch, last, passed = None, since, set()
        while True:
            now = self.head()["epoch"]
            epoch, last = now, last if epoch in (None, now) else since
            path: str | None = f"/v1/signals/history?since={last}&limit={page}"
            while path is not None:
                answer = self._transport.get(path).json()
                for signal in answer["data"]:
                    last = signal["seq"]
                    if signal["signal_id"] not in passed:
                        passed.add(signal["signal_id"])
                        yield signal
                path = answer["links"].get("next")
            if poll is None:
                return
            time.sleep(poll)


def verify_webhook(
    headers: Mapping[str, str], body: bytes, secret: str | Sequence[str], *, tolerance: float = 300
) -> dict[str, Any]:
    """The signal of a delivery, after its `webhook-signature` and its time are checked.

    `body` is the raw bytes, `secret` that of your webhook; while you change it, the new one and the old one. Raises
    HighwaterError `bad_signature` if no secret has signed it, or if its time differs by more than `tolerance` seconds,
    as that of a delivery which somebody recorded and sends again, and `bad_request` if what was signed is no signal:
    `status` is what to answer.
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
    with suppress(ValueError, LookupError, TypeError):
        signal: dict[str, Any] = json.loads(body)
        if isinstance(signal["signal_id"], str) and isinstance(signal["seq"], int):
            return signal
    raise HighwaterError("bad_request", "the body of the delivery is not a signal", 400)


def _key_of(secret: str) -> bytes:
    prefix, encoded = secret[:6], secret[6:]
    if prefix != "whsec_" or len(encoded) != 44:
        raise ValueError("a webhook secret is whsec_ and 32 bytes in base64: copy it whole")
    return base64.b64decode(encoded, validate=True)
