"""The published history in pandas: one version of it, which never changes."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import warnings
from copy import copy
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, Sequence, Union, overload
from urllib.parse import quote, urlencode

import pandas as pd

from .transport import Answer, Cache, HighwaterError, Transport, replace
from .verify import audit, digests_of, published_keys

Day = Union[str, date]  # a text that pandas reads, a date, a datetime or a Timestamp
File = Union[str, "os.PathLike[str]"]
MOST_STEPS = 31  # versions; an older export is downloaded whole, which costs less than the changes of so many nights


class Highwater:
    """A version of the history: the one that is served now, one by its name, or the one that was served on a UTC day.

    A name is 2026-07-01T00:15:00Z or 20260701T001500Z; one that does not exist is refused at once.
    `cache` is a folder for answers, at most `cache_bytes` of them; an answer from it makes no request. Without one nothing
    is kept. An attempt ends after `timeout` seconds of silence, and is repeated `retries` times if it may succeed later.
    Days are a DatetimeIndex in UTC. Methods raise HighwaterError if the service refuses or cannot be reached.
    """

    def __init__(
        self, base: str, version: str | None = None, as_of: Day | None = None, cache: File | None = None, *,
        timeout: float = 60, retries: int = 4, cache_bytes: int = 1 << 30,
    ) -> None:  # fmt: skip
        if version is not None and as_of is not None:
            raise ValueError("version and as_of both choose a version: leave one out")
        self._transport = Transport("history", base, timeout, retries)
        self._cache = None if cache is None else Cache(Path(cache).expanduser(), cache_bytes)
        self.base = self._transport.base
        self._pin(self._find(as_of) if version is None else version)
        if version is not None or cache is not None:  # a version whose answers are kept opens without the service
            self.answer("/dataset")

    def __repr__(self) -> str:
        return f"Highwater({self.base!r}, version={self.version!r})"

    def as_of(self, day: Day) -> Highwater:
        """The version that was served at the end of a UTC day."""
        return self._at(self._find(day))

    def strategies(self) -> pd.DataFrame:
        """The catalogue with its headline figures, a row a strategy, by id."""
        rows = [{**row, **row["headline"]} for row in self._data("/strategies")]
        return pd.DataFrame(rows).drop(columns="headline").set_index("id")

    @overload
    def returns(
        self, strategy: list[str] | None = None, *, risk_pct: float | None = None, start: Day | None = None,
        end: Day | None = None, period: str = "daily",
    ) -> pd.DataFrame: ...  # fmt: skip
    @overload
    def returns(
        self, strategy: str, *, risk_pct: float | None = None, start: Day | None = None, end: Day | None = None,
        period: str = "daily",
    ) -> pd.Series | Any: ...  # fmt: skip  # a text of several ids gives a DataFrame
    def returns(self, strategy=None, *, risk_pct=None, start=None, end=None, period="daily"):  # type: ignore[no-untyped-def]
        """Returns as fractions: of all strategies or of a list, a column each, or of one. `start` and `end` are inclusive."""
        query = {"risk_pct": risk_pct, "period": period, "from": _day(start), "to": _day(end)}
        if strategy is None or "," in strategy or not isinstance(strategy, str):
            book, ids = self._table("/export", **query), _ids(strategy)
            for unknown in sorted(set(ids or ()).difference(book.columns)):
                self.answer(f"/strategies/{quote(unknown, safe='')}")  # is refused with the nearest id
            return book if ids is None else book[ids]
        return self._table(_path(strategy, "returns"), **query)["ret"].rename(strategy)

    def curve(self, strategy: str, *, risk_pct: float | None = None) -> pd.Series:
        """The equity at the end of each day; it begins with 1 before the first."""
        return self._table(_path(strategy, "curve"), risk_pct=risk_pct)["equity"].rename(strategy)

    def rolling(self, strategy: str, *, risk_pct: float | None = None) -> pd.DataFrame:
        """Return, volatility, Sharpe ratio and beta of every 365 days, by their last day."""
        return self._table(_path(strategy, "rolling"), risk_pct=risk_pct)

    def benchmark(self) -> pd.DataFrame:
        """Daily returns of holding each instrument, a column each, and of the equal-weight book."""
        return self._table("/benchmark")

    def trades(self, strategy: str) -> pd.DataFrame:
        """The closed trades, with UTC timestamps."""
        table = _read_csv(self.answer(_path(strategy, "trades"), format="csv").body)
        times = {name: pd.to_datetime(table[name], unit="ms", utc=True) for name in ("entry_time", "exit_time")}
        return table.assign(**times)

    def stats(self, strategy: str, *, risk_pct: float | None = None) -> dict[str, Any]:
        """The statistics as they are published; the due diligence block is `fund_dd`."""
        return dict(self._data(_path(strategy, "stats"), risk_pct=risk_pct))

    def risk(self, strategy: str, *, risk_pct: float | None = None) -> dict[str, Any]:
        """A year drawn from the record, results by start date, days, exposure and periods of stress."""
        return dict(self._data(_path(strategy, "risk"), risk_pct=risk_pct))

    def live(self, strategy: str, *, risk_pct: float | None = None) -> dict[str, Any]:
        """What was sealed while the strategy was live, beside the record."""
        return dict(self._data(_path(strategy, "live"), risk_pct=risk_pct))

    def correlation(self, *, period: str = "daily", ids: str | Sequence[str] | None = None) -> pd.DataFrame:
        """The correlation matrix of all strategies or of some; NaN where it is undefined, which is published as 0."""
        data = self._data("/correlation", period=period, ids=None if ids is None else ",".join(_ids(ids)))
        matrix = pd.DataFrame(data["matrix"], index=data["ids"], columns=data["ids"], dtype=float)
        for undefined in data["undefined_pairs"]:
            one, other = undefined["pair"]
            matrix.loc[one, other] = matrix.loc[other, one] = float("nan")
        return matrix

    def summary(self) -> dict[str, Any]:
        """Coverage, equal-weight book and diversification."""
        return dict(self._data("/summary"))

    def changes(self) -> dict[str, Any]:
        """What this version appended to the one before it, and what it restated."""
        return dict(self.answer("/changes").json())

    def update_export(
        self, export: File | pd.DataFrame, *, risk_pct: float | None = None, period: str = "daily"
    ) -> pd.DataFrame:
        """The returns of all strategies, of which only the days that `export` lacks are downloaded.

        `export` is a frame of `returns()` or of this method, or a CSV file, which is written if it is missing or older;
        FILE.json says what it is. All of it is downloaded if history was restated, if the strategies changed, if the
        file was altered, or after a month.
        """
        query = {"risk_pct": risk_pct, "period": period}
        if isinstance(export, pd.DataFrame):
            return self._updated_frame(export, query)
        path = Path(export).expanduser()
        note = path.with_name(path.name + ".json")
        csv = self._updated_file(path, note, query) or self.answer("/export", format="csv", **query).body
        replace(path, csv)
        replace(note, json.dumps({**self._about(csv, query), "version": self.version}).encode())
        return self._frame(csv)

    def verify(self, key: File | None = None, *, allow_unsigned: bool = False) -> list[str]:
        """Checks the log of versions, the signatures, and every file of this version; what was checked, in sentences.

        `key` is the public key of the publisher, a PEM text or a file of it; without it the keys that the service
        publishes are trusted. Raises HighwaterError `not_verified` with the faults in `details`.
        """
        if key is None:
            keys = published_keys(self._transport, allow_unsigned)
        else:
            keys = [key if isinstance(key, str) and "-----BEGIN" in key else Path(key).expanduser().read_text()]
        return audit(self._transport, self.version, self._root, keys, self._kept)

    def answer(self, path: str, **query: Any) -> Answer:
        """Any answer of this version, by its path without /v1: `answer("/dataset").json()["data"]`."""
        given = sorted((name, value) for name, value in query.items() if value not in (None, "daily"))  # as in the manifest
        path = self._root + path + ("?" + urlencode(given) if given else "")
        kept = self._kept(path)
        if kept is not None:
            return kept
        answer = self._transport.get(path)
        if self._digest_of(path, answer) not in (None, sha256(answer.body).hexdigest()):
            raise HighwaterError("damaged", f"{self.base}{path} was altered on its way: it has another checksum")
        if self._cache is not None:
            self._cache.write(self.base + path, answer)
        return answer

    def _kept(self, path: str) -> Answer | None:
        return None if self._cache is None else self._cache.read(self.base + path)

    def _digest_of(self, path: str, answer: Answer) -> str | None:
        """The published checksum; None for a manifest, which verify() checks, and for what is computed while it is sent."""
        own = re.fullmatch("sha-256=:(.+):", answer.headers.get("unencoded-digest", ""))
        if own is not None:
            return base64.b64decode(own[1]).hex()
        if self._digests is None and not path.endswith("/manifest.json"):
            self._digests = digests_of(self.answer("/manifest.json").json(), self._root)
        return (self._digests or {}).get(path)

    def _data(self, path: str, **query: Any) -> Any:
        answer = self.answer(path, **query).json()
        _warn_if(answer["meta"].get("risk_pct_clamped"), query, answer["meta"].get("effective_risk_pct"))
        return answer["data"]

    def _table(self, path: str, **query: Any) -> pd.DataFrame:
        answer = self.answer(path, format="csv", **query)
        is_clamped = answer.headers.get("x-risk-pct-clamped") == "true"
        _warn_if(is_clamped, query, answer.headers.get("x-risk-pct-effective"))
        return self._frame(answer.body)

    def _frame(self, csv: bytes) -> pd.DataFrame:
        frame = _read_csv(csv).set_index("t").astype(float)
        frame.index = pd.to_datetime(frame.index, format="%Y-%m-%d", utc=True)
        frame.attrs["version"] = self.version
        return frame

    def _pin(self, version: str) -> None:
        compact = re.sub("[-:]", "", version)
        self.version = re.sub(r"^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$", r"\1-\2-\3:\4:\5", compact)
        self._root = "/v1/snapshots/" + quote(compact, safe="")
        self._digests: dict[str, str] | None = None

    def _at(self, version: str) -> Highwater:
        """A version that is known to exist."""
        book = copy(self)
        book._pin(version)
        return book

    def _find(self, as_of: Day | None) -> str:
        path = "/version" if as_of is None else f"/v1/dataset/versions?as_of={_day(as_of)}"
        data = self._transport.get(path).json()["data"]
        if "schema_version" in data:  # of a signal
            raise self._transport.wrong_service(200)
        version = data["dataset_version" if as_of is None else "version"]
        if version is None:
            raise HighwaterError("not_published", f"{self.base} has published no version yet")
        return str(version)

    def _updated_frame(self, frame: pd.DataFrame, query: dict[str, Any]) -> pd.DataFrame:
        if len(frame) > 0 and self._continues(frame.attrs.get("version")):
            new = self.returns(start=frame.index[-1], **query)
            if new.columns.equals(frame.columns) and new.iloc[:1].equals(frame.iloc[-1:]):  # the last row is repeated
                whole = pd.concat([frame, new.iloc[1:]])
                whole.attrs["version"] = self.version
                return whole
        return self.returns(**query)

    def _updated_file(self, path: Path, note: Path, query: dict[str, Any]) -> bytes | None:
        """The file with the rows that it lacks, the same bytes as the whole export; None if it cannot be continued."""
        try:
            csv, about = path.read_bytes(), json.loads(note.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        version, lines = about.pop("version", None), csv.splitlines(keepends=True)
        if about != self._about(csv, query) or len(lines) < 2 or not self._continues(version):
            return None
        if version == self.version:
            return csv
        query = {**query, "from": lines[-1][:10].decode()}
        new = self.answer("/export", format="csv", **query).body.splitlines(keepends=True)
        return csv + b"".join(new[2:]) if new[:2] == [lines[0], lines[-1]] else None

    def _about(self, csv: bytes, query: dict[str, Any]) -> dict[str, Any]:
        return {**query, "base": self.base, "sha256": sha256(csv).hexdigest()}

    def _continues(self, version: str | None) -> bool:
        """Whether every version after `version` up to this one only appended days to the same strategies."""
        book = self
        for _ in range(MOST_STEPS):
            if version is None or version == book.version:
                return version is not None
            try:
                changes = book.changes()
            except HighwaterError as error:
                if error.status in (404, 410):  # a version that was removed says nothing
                    return False
                raise
            if changes["history_restated"] or changes["added"] or changes["removed"] or changes["previous"] is None:
                return False
            book = book._at(changes["previous"])
        return False


def _path(strategy: str, resource: str) -> str:
    return f"/strategies/{quote(strategy, safe='')}/{resource}"


def _ids(ids: str | Sequence[str] | None) -> list[str] | None:
    return [each.strip() for each in ids.split(",")] if isinstance(ids, str) else None if ids is None else list(ids)


def _read_csv(csv: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(csv), float_precision="round_trip")  # the default is inexact in the last digit


def _day(day: Day | None) -> str | None:
    if day is None:
        return None
    instant = pd.Timestamp(day)
    return str((instant if instant.tzinfo is None else instant.tz_convert("UTC")).date())


def _warn_if(is_clamped: bool, query: dict[str, Any], effective: Any) -> None:
    if is_clamped:
        message = f"risk_pct {query['risk_pct']} is above the maximum of the service: the answer is of {effective}"
        warnings.warn(message, stacklevel=4)
