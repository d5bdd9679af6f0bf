"""What is published, checked from its log down to the last file, as docs/verifying.md does it by hand."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import Any, Callable, NoReturn

from .transport import Answer, HighwaterError, Transport

AT_ONCE = 8  # concurrent requests
SKEW = timedelta(minutes=5)  # clocks that are kept in step differ by less
Kept = Callable[[str], "Answer | None"]


def audit(service: Transport, version: str, root: str, keys: list[str] | None, kept: Kept) -> list[str]:
    """What was checked, in sentences. `keys` are PEM texts, None for unsigned data; `kept` finds copies on disk.

    Raises HighwaterError `not_verified` with the faults in `details`.
    """
    try:
        entries = _log(service)
        newest, head = json.loads(entries[-1]), sha256(entries[-1]).hexdigest()
        _check_time(newest)
        _check_signature(service, keys, entries[-1], f"/v1/pointer/signatures/{head}.sig")
        manifest = _get(service, f"{root}/manifest.json")
        named = {entry["manifest_sha256"] for entry in map(json.loads, entries) if entry["version"] == version}
        if named != {sha256(manifest).hexdigest()}:
            _fail([f"the manifest of {version} is not the one that the log names"])
        _check_signature(service, keys, manifest, f"{root}/manifest.json.sig")
        files = _check_files(service, digests_of(json.loads(manifest), root), kept)
    except (ValueError, LookupError, TypeError) as error:
        _fail([f"a published document has another form: {error!r}"])
    return [
        f"log: {len(entries)} entries without a gap, the newest of {newest['at']} with the digest {head}",
        f"signatures: {'nothing is signed' if keys is None else 'of the newest entry and of the manifest'}",
        f"files: {files} files of version {version} as published",
    ]


def digests_of(manifest: dict[str, Any], root: str) -> dict[str, str]:
    """The SHA-256 of every file of a version by its pinned path."""
    files = [(each["url"], each["sha256"]) for each in manifest["artifacts"]]
    files += [("/v1/" + name.replace("changes.json", "changes"), each) for name, each in manifest["documents"].items()]
    return {url if url.startswith(root) else url.replace("/v1", root, 1): digest for url, digest in files}


def published_keys(service: Transport, allow_unsigned: bool) -> list[str] | None:
    """The PEM texts that the service publishes; None if it publishes none and that is accepted."""
    found = find(service, "/.well-known/highwater-keys.json")
    if found is None:
        return None if allow_unsigned else _fail(["nothing is signed: verify(allow_unsigned=True) checks checksums only"])
    return [each["public_key_pem"] for each in json.loads(found)["keys"]]


def _fail(faults: list[str]) -> NoReturn:
    raise HighwaterError("not_verified", "; ".join(faults[:3]), details=faults)


def find(service: Transport, path: str) -> bytes | None:
    try:
        return service.get(path).body
    except HighwaterError as error:
        if error.status not in (404, 410):
            raise
        return None


def _get(service: Transport, path: str) -> bytes:
    found = find(service, path)
    return _fail([f"{path} is missing"]) if found is None else found


def _log(service: Transport) -> list[bytes]:
    """The entries 1, 2, 3 and so on until one is missing, each with the digest of the one before."""
    found: list[bytes | None] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while None not in found:
            numbers = range(len(found) + 1, len(found) + 1 + AT_ONCE)
            found += pool.map(lambda seq: find(service, f"/v1/pointer/{seq:010}.json"), numbers)
    entries = [content for content in found if content is not None]
    if found.index(None) < max(len(entries), json.loads(_get(service, "/v1/current.json"))["seq"]):
        _fail([f"entry {found.index(None) + 1} of the log is missing: entries were lost or are withheld"])
    digest = None
    for seq, content in enumerate(entries, 1):
        entry = json.loads(content)
        if entry["seq"] != seq or entry["prev_entry_sha256"] != digest:
            _fail([f"entry {seq} of the log does not continue the entry before it: one of the two was altered"])
        digest = sha256(content).hexdigest()
    return entries


def _check_time(newest: dict[str, Any]) -> None:
    at, expires = (datetime.strptime(newest[name], "%Y-%m-%dT%H:%M:%S%z") for name in ("at", "expires"))
    now = datetime.now(timezone.utc)
    if now + SKEW < at:
        _fail([f"the newest entry of the log was written at {newest['at']}, later than it is: is the clock right?"])
    if now >= expires:
        _fail([f"the newest entry of the log expired at {newest['expires']}: it does not prove what is served now"])


def _check_signature(service: Transport, keys: list[str] | None, content: bytes, path: str) -> None:
    if keys is not None and not any([is_signed(key, content, _get(service, path)) for key in keys]):
        _fail([f"{path} is no signature of a trusted key"])


def is_signed(key: str, content: bytes, signature: bytes) -> bool:
    """Whether an Ed25519 key, a PEM text, signed the content. Raises HighwaterError `cryptography_missing`."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError:
        message = "signatures are verified with the package cryptography: pip install 'highwater-client[verify]'"
        raise HighwaterError("cryptography_missing", message) from None
    public_key: Any = load_pem_public_key(key.encode())
    with suppress(InvalidSignature):
        public_key.verify(signature, content)
        return True
    return False


def _check_files(service: Transport, digests: dict[str, str], kept: Kept) -> int:
    def fault_of(path: str) -> str | None:
        content, copy = find(service, path), kept(path)
        if content is None or sha256(content).hexdigest() != digests[path]:
            return f"{path} is {'missing' if content is None else 'altered'}"
        return f"{path} is altered in the cache: remove the folder" if copy and copy.body != content else None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        faults = [fault for fault in pool.map(fault_of, digests) if fault is not None]
    return _fail(faults) if faults else len(digests)
