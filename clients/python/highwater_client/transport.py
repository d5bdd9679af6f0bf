"""Requests to a service, with bounded retries, and answers that are kept on disk."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
import uuid
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping
from urllib.parse import urlsplit

PASSING = (429, 502, 503, 504)  # a later attempt may succeed
MOST_WAIT_SECONDS = 60  # a service that asks for more patience is reported at once
CUT = (OSError, EOFError, zlib.error, http.client.HTTPException)  # an answer that did not arrive, or not whole


@dataclass(eq=False)
class HighwaterError(Exception):
    """A refusal of the service, or an answer that cannot be used. Branch on `code`, never on the message.

    `code` is an error code of the service, or one of this package, which its README lists. `status` is the HTTP status of
    a refusal, `details` what the service or verify() lists beside the message, and `request_id` names the request in the
    log of the service; each may be None.
    """

    code: str
    message: str
    status: int | None = None
    details: Any = None
    request_id: str | None = None

    def __post_init__(self) -> None:
        super().__init__(self.code, self.message, self.status, self.details, self.request_id)  # to be pickled

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True)
class Answer:
    """The headers of an answer with lower-case names, and its body before any coding."""

    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            message = f"expected JSON, got {self.body[:60]!r}: is this the address of a Highwater service?"
            raise HighwaterError("unexpected_answer", message) from None


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        if req.get_method() != "GET":
            return None  # it would be repeated as GET
        if urlsplit(newurl)[:2] == urlsplit(req.full_url)[:2]:  # a key is sent to no other server
            return super().redirect_request(req, fp, code, msg, headers, newurl)
        message = f"{req.full_url} redirects to another origin, {newurl}: use that address if you trust it"
        raise HighwaterError("unexpected_answer", message, code)


class Transport:
    """Requests to one service, "history" or "signals". An attempt that may succeed later is repeated `retries` times."""

    def __init__(self, service: str, base: str, timeout: float, retries: int, headers: Mapping[str, str] = {}) -> None:
        self.service, self.base, self.timeout, self.retries = service, base.rstrip("/"), timeout, retries
        if not re.match("https?://[^/]", self.base) or self.base.endswith("/v1"):
            raise ValueError(f"expected the address of a service without /v1, as https://a.example, got {base!r}")
        self.headers = {"Accept-Encoding": "gzip", "User-Agent": "highwater-client-python", **headers}
        self.opener = urllib.request.build_opener(_SameOrigin)

    def get(self, path: str) -> Answer:
        """The answer at a path, which begins with a slash. Raises HighwaterError for everything but success."""
        return self.send("GET", path)

    def send(self, method: str, path: str, body: Any = None) -> Answer:
        """The same by another method. A change is repeated only if it was refused with 429: without an answer it may be done."""
        attempt, passing = 0, PASSING if method == "GET" else (429,)
        data = None if body is None else json.dumps(body).encode()
        headers = self.headers if data is None else {**self.headers, "Content-Type": "application/json"}
        while True:
            wait = 0.5 * 2**attempt
            try:
                request = urllib.request.Request(self.base + path, data, headers, method=method)
                with self.opener.open(request, timeout=self.timeout) as got:
                    return Answer({name.lower(): value for name, value in got.headers.items()}, _decoded(got))
            except urllib.error.HTTPError as refusal:
                error = self._error_of(refusal)
                after = refusal.headers.get("Retry-After", "")
                wait = float(after) if after.isdigit() else wait
                if refusal.code not in passing or wait > MOST_WAIT_SECONDS:
                    raise error from None
            except CUT as failure:
                error = HighwaterError("unreachable", f"no whole answer from {self.base + path}: {failure}")
                if method != "GET":
                    raise error from None
            if attempt >= self.retries:
                raise error from None
            attempt += 1
            time.sleep(wait)

    def _error_of(self, refusal: urllib.error.HTTPError) -> HighwaterError:
        error = {"code": "unexpected_answer", "message": f"{refusal.url} was answered {refusal.code} {refusal.reason}"}
        with contextlib.suppress(*CUT, ValueError, LookupError, TypeError):  # of a proxy, not of the service
            answer = json.loads(_decoded(refusal))
            error = {name: answer["error"][name] for name in ("code", "message", "details")}
            for each in error["details"] if isinstance(error["details"], list) else ():  # or a question: did you mean 'alder'?
                error["message"] += f"; {'' if each['reason'].endswith('?') else each['param'] + ' '}{each['reason']}"
            if error["code"] == "not_found" and ("dataset_version" in answer["meta"]) != (self.service == "history"):
                return self.wrong_service(refusal.code)
        return HighwaterError(**error, status=refusal.code, request_id=refusal.headers.get("X-Request-Id"))

    def wrong_service(self, status: int) -> HighwaterError:
        at = f"{self.base} is not the address of the {self.service} service"
        right = "Highwater takes that of the history service, Signals that of the signals service"
        return HighwaterError("wrong_service", f"{at}: {right}", status)


def _decoded(answer: Any) -> bytes:
    body: bytes = answer.read()
    return gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body


class Cache:
    """Answers that never change, a file each: the checksum of the rest, a line with the headers, the body.

    Files are replaced atomically, so processes may share a folder. If they exceed `most_bytes`, those that were not read
    for longest are removed.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder, self.most_bytes = folder, most_bytes

    def read(self, address: str) -> Answer | None:
        """The kept answer; None if there is none, or if its file is damaged."""
        try:
            digest, _, rest = self._path(address).read_bytes().partition(b"\n")
        except OSError:  # if the folder cannot be used, write() says so
            return None
        if _sha256(rest) != digest:
            return None
        with contextlib.suppress(OSError):  # of a folder that may not be written
            os.utime(self._path(address))
        head, _, body = rest.partition(b"\n")
        return Answer(json.loads(head), body)

    def write(self, address: str, answer: Answer) -> None:
        """Keeps an answer. A folder that cannot be written is a warning: the answer itself is good."""
        rest = json.dumps(dict(answer.headers)).encode() + b"\n" + answer.body
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace(self._path(address), _sha256(rest) + b"\n" + rest)
            self._shrink()
        except OSError as error:
            warnings.warn(f"the answer is not kept in {self.folder}: {error}", stacklevel=2)

    def _path(self, address: str) -> Path:
        return self.folder / f"{_sha256(address.encode()).decode()}.highwater"

    def _shrink(self) -> None:
        with contextlib.suppress(FileNotFoundError):  # another process removed one: the next answer counts again
            kept = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self.folder.glob("*.highwater"))
            excess = sum(size for _, size, _ in kept) - self.most_bytes
            for _, size, path in kept:
                if excess > 0:
                    path.unlink()
                    excess -= size


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def replace(path: Path, content: bytes) -> None:
    """Replaces a file atomically: readers see the old bytes or the new ones."""
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
