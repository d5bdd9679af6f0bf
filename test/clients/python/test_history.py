"""The Python client against a service of the sample book, at HISTORY_URL."""

import base64
import datetime
import hashlib
import json
import multiprocessing
import os
import pickle
import tempfile
import unittest
import urllib.request
import warnings
from pathlib import Path
from unittest import mock

import pandas as pd
from highwater_client import Highwater, HighwaterError, Signals
from highwater_client.transport import Answer, Cache
from proxy import Proxy

URL = os.environ.get("HISTORY_URL", "")
VERSION = "2026-07-01T00:15:00Z"


def published(path):
    """An answer of the service, with every number as the text that was published."""
    with urllib.request.urlopen(URL + path) as answer:
        return json.loads(answer.read(), parse_float=str, parse_int=str)["data"]


def read_with_others(order):
    """Runs in a process of its own: a small cache, in which files are replaced and removed all the time."""
    folder, seed = order
    book = Highwater(URL, version=VERSION, cache=folder, cache_bytes=3000)
    days = [f"2026-06-{10 + (seed + i) % 15}" for i in range(30)]
    return {day: book.answer("/strategies/alder/returns", **{"from": day}).body for day in days}


@unittest.skipUnless(URL, "no HISTORY_URL")
class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.book = Highwater(URL)

    def assert_published(self, series, rows, name):
        self.assertEqual([str(day.date()) for day in series.index], [row["t"] for row in rows])
        self.assertEqual(list(series), [float(row[name]) for row in rows])
        self.assertEqual(str(series.index.tz), "UTC")

    def test_rescaled_returns_are_those_of_the_service_digit_for_digit(self):
        for risk in (0.01, 0.0333, 1e-05):
            rows = published(f"/v1/strategies/alder/returns?risk_pct={risk}")
            self.assertGreater(len(rows), 3000)
            self.assert_published(self.book.returns("alder", risk_pct=risk), rows, "ret")

    def test_ranges_weeks_curves_and_rolling_years_are_those_of_the_service(self):
        rows = published("/v1/strategies/birch/returns?period=weekly&from=2025-01-01&to=2025-03-31")
        self.assertEqual(len(rows), 13)
        for start, end in (
            ("2025-01-01", "2025-03-31"),
            (datetime.date(2025, 1, 1), pd.Timestamp("2025-03-31T20:00", tz="UTC")),
            (
                pd.Timestamp("2025-01-01T02:00", tz="Asia/Tokyo") + pd.Timedelta(days=1),
                datetime.datetime(2025, 3, 31, 5),
            ),
        ):
            self.assert_published(self.book.returns("birch", start=start, end=end, period="weekly"), rows, "ret")
        self.assert_published(
            self.book.curve("birch", risk_pct=0.03), published("/v1/strategies/birch/curve?risk_pct=0.03"), "equity"
        )
        years, rows = self.book.rolling("birch"), published("/v1/strategies/birch/rolling")
        for name in years.columns:
            self.assert_published(years[name], rows, name)
        self.assertEqual(list(years.columns), ["return_pct", "volatility_pct", "sharpe", "beta"])

    def test_the_book_is_a_frame_with_a_column_for_each_strategy(self):
        frame, export = self.book.returns(), published("/v1/export")
        self.assertEqual(list(frame.columns), export["ids"])
        for sid in export["ids"]:
            rows = [{"t": row["t"], "ret": row["rets"][sid]} for row in export["rows"] if sid in row["rets"]]
            self.assert_published(frame[sid].dropna(), rows, "ret")
        self.assertEqual(len(self.book.returns(start="2030-01-01")), 0)
        instrument = published("/v1/benchmark")["instruments"][0]
        rows = [{"t": row["t"], "ret": row["rets"][instrument]} for row in published("/v1/benchmark")["rows"]]
        self.assert_published(self.book.benchmark()[instrument], rows, "ret")

    def test_trades_have_timestamps(self):
        trades, rows = self.book.trades("alder"), published("/v1/strategies/alder/trades")
        self.assertEqual(len(trades), len(rows))
        for name in ("entry_time", "exit_time"):
            instants = [pd.Timestamp(int(row[name]), unit="ms", tz="UTC") for row in rows]
            self.assertEqual(list(trades[name]), instants)
        for name in ("entry_price", "exit_price", "duration_days", "return_pct"):
            self.assertEqual(list(trades[name]), [float(row[name]) for row in rows])
        for name in ("side", "result", "exit_reason"):
            self.assertEqual(list(trades[name]), [row[name] for row in rows])

    def test_figures_are_the_published_ones(self):
        def texts(value):
            if isinstance(value, dict):
                return {name: texts(each) for name, each in value.items()}
            if isinstance(value, list):
                return [texts(each) for each in value]
            return value if value is None or isinstance(value, (bool, str)) else repr(value)

        self.assertEqual(texts(self.book.summary()), published("/v1/summary"))
        for query in ("", "?risk_pct=0.013"):
            risk = float(query[10:]) if query else None
            self.assertEqual(
                texts(self.book.stats("hazel", risk_pct=risk)), published(f"/v1/strategies/hazel/stats{query}")
            )
        catalogue = self.book.strategies()
        self.assertEqual(list(catalogue.index), [row["id"] for row in published("/v1/strategies")])
        self.assertEqual(catalogue.loc["alder", "cagr_pct"], self.book.stats("alder")["cagr_pct"])

    def test_correlations_are_the_published_ones_and_nan_where_they_are_undefined(self):
        data = published("/v1/correlation?ids=alder,birch,hazel&period=weekly")
        matrix = self.book.correlation(period="weekly", ids=["alder", "birch", "hazel"])
        self.assertEqual(matrix.values.tolist(), [[float(value) for value in row] for row in data["matrix"]])
        self.assertEqual(list(matrix.index), list(matrix.columns))
        undefined = {"ids": ["a", "b"], "matrix": [[1, 0], [0, 1]], "undefined_pairs": [{"pair": ["a", "b"]}]}
        body = json.dumps({"data": undefined, "meta": {}}).encode()
        with Proxy(answer=lambda path: (200, {"Unencoded-Digest": digest_of(body)}, body)) as proxy:
            matrix = Highwater(proxy.url, version=VERSION).correlation()
        self.assertEqual(matrix.isna().values.tolist(), [[False, True], [True, False]])

    def test_a_level_above_the_maximum_is_lowered_with_a_warning_at_the_line_of_the_caller(self):
        for call in (lambda: self.book.returns("alder", risk_pct=0.5), lambda: self.book.stats("alder", risk_pct=0.5)):
            with self.assertWarnsRegex(UserWarning, r"risk_pct 0\.5 is above .* of 0\.1") as caught:
                call()
            self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.book.returns("alder", risk_pct=0.1)

    def test_errors_have_code_status_details_and_the_id_of_the_request(self):
        with self.assertRaises(HighwaterError) as caught:
            self.book.returns("alder", period="hourly")
        error = caught.exception
        self.assertEqual((error.code, error.status, error.details[0]["param"]), ("validation_error", 422, "period"))
        self.assertTrue(error.request_id)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual(
            (again.code, again.details, again.request_id, str(again)),
            (error.code, error.details, error.request_id, str(error)),
        )
        both = {"base": URL, "version": VERSION, "as_of": "2026-01-01"}
        for order in ({"base": "data.example.com"}, {"base": "127.0.0.1:80"}, {"base": "http://a.test/v1/"}, both):
            with self.assertRaisesRegex(ValueError, "without /v1, as https://a.example, got '" if len(order) == 1 else "leave one out"):
                Highwater(**order)

    def test_faults_have_the_codes_that_they_have_in_the_other_client(self):
        for line in (Path(__file__).parent.parent / "faults.jsonl").read_text().splitlines():
            each = json.loads(line)
            given = each.get("with")
            call = {
                "nowhere": lambda url: Highwater("http://127.0.0.1:2", retries=0),
                "open": lambda url: Highwater(url, retries=0),
                "version": lambda url: Highwater(url, version=given),
                "day": lambda url: Highwater(url, as_of=given),
                "stats": lambda url: Highwater(url).stats(given),
                "returns": lambda url: Highwater(url).returns(given),
                "correlation": lambda url: Highwater(url).correlation(ids=given),
                "hourly": lambda url: Highwater(url).returns("alder", period="hourly"),
                "verify": lambda url: Highwater(url).verify(),
                "head": lambda url: Signals(url, "key").head(),
            }[each["call"]]

            def answer(path):
                for end, (status, headers, body) in each.get("answers", {}).items():
                    if path.endswith(end):
                        return status, headers, (body if isinstance(body, str) else json.dumps(body)).encode()

            with self.subTest(each["fault"]), Proxy(URL, answer) as proxy:
                with self.assertRaises(HighwaterError) as caught:
                    call(proxy.url)
                self.assertEqual(caught.exception.code, each["code"])
                self.assertRegex(caught.exception.message, each["says"])

    def test_ids_are_a_list_or_a_text_and_a_version_is_spelt_in_two_ways(self):
        book = Highwater(URL, version="20260701T001500Z")
        self.assertEqual((book.version, book._root), (VERSION, self.book._root))
        for ids in (["birch", "alder"], "birch,alder", "birch, alder"):
            self.assertEqual(list(book.correlation(ids=ids).columns), ["birch", "alder"])
            self.assertTrue(book.returns(ids, start="2026-01-01").equals(book.returns(start="2026-01-01")[["birch", "alder"]]))
        self.assertEqual(book.returns(["alder"]).shape[1], 1)

    def test_opens_the_version_of_a_day(self):
        today = datetime.datetime.now(datetime.timezone.utc).date()  # the sample is served since the tests began
        self.assertEqual(Highwater(URL, as_of=today.isoformat()).version, VERSION)
        self.assertEqual(self.book.as_of(today).version, VERSION)


def digest_of(body):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


@unittest.skipUnless(URL, "no HISTORY_URL")
class OnDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "made" / "when needed"

    def test_an_answer_on_disk_makes_no_request_also_when_the_service_is_gone(self):
        with Proxy(URL) as proxy:
            book = Highwater(proxy.url, cache=self.folder)
            first = [book.returns(), book.returns("alder", risk_pct=0.01), book.trades("alder"), book.strategies()]
            book.stats("alder")
            asked = len(proxy.paths)
            self.assertTrue(book.returns().equals(first[0]))
            self.assertEqual(len(proxy.paths), asked)
        book = Highwater(proxy.url, version=book.version, cache=str(self.folder), retries=0)
        again = [book.returns(), book.returns("alder", risk_pct=0.01), book.trades("alder"), book.strategies()]
        self.assertTrue(all(one.equals(other) for one, other in zip(first, again)))
        self.assertEqual(book.stats("alder")["n_days"], 3103)
        with self.assertRaises(HighwaterError) as caught:
            book.stats("birch")
        self.assertEqual(caught.exception.code, "unreachable")

    def test_a_damaged_file_is_downloaded_again(self):
        with Proxy(URL) as proxy:
            book = Highwater(proxy.url, version=VERSION, cache=self.folder)
            whole = book.returns()
            for spoil in (
                lambda b: b[:-9] + b"0.5" + b[-6:],
                lambda b: b[: len(b) // 2],
                lambda b: b"",
                lambda b: b"x" + b,
            ):
                for file in self.folder.iterdir():
                    file.write_bytes(spoil(file.read_bytes()))
                proxy.paths.clear()
                self.assertTrue(book.returns().equals(whole))
                self.assertEqual(proxy.paths, ["/v1/snapshots/20260701T001500Z/export?format=csv"])
                book.answer("/manifest.json")
            proxy.paths.clear()
            self.assertTrue(book.returns().equals(whole))
            self.assertEqual(proxy.paths, [])

    def test_processes_share_a_folder_that_stays_within_its_bound(self):
        with multiprocessing.get_context("fork").Pool(4) as pool:
            found = pool.map(read_with_others, [(self.folder, seed) for seed in range(4)])
        for day in found[0]:
            expected = Highwater(URL, version=VERSION).answer("/strategies/alder/returns", **{"from": day}).body
            self.assertEqual({each[day] for each in found if day in each}, {expected})
        read_with_others((self.folder, 0))
        sizes = [file.stat().st_size for file in self.folder.iterdir()]
        self.assertTrue(0 < sum(sizes) <= 3000, sizes)

    def test_the_answers_that_were_not_read_for_longest_are_removed_and_no_other_file(self):
        cache, answer = Cache(self.folder, 1000), Answer({}, b"x" * 200)
        for address in "abc":
            cache.write(address, answer)
        (self.folder / "own.csv").write_bytes(b"y" * 5000)
        os.utime(cache._path("b"), (1, 1))
        os.utime(cache._path("a"), (2, 2))
        os.utime(cache._path("c"), (3, 3))
        self.assertEqual(cache.read("b"), answer)
        cache.write("d", answer)
        self.assertEqual([name for name in "abcd" if cache.read(name)], ["b", "c", "d"])
        self.assertTrue((self.folder / "own.csv").exists())

    def test_a_folder_that_cannot_be_written_is_a_warning(self):
        self.folder.parent.mkdir()
        self.folder.write_text("a file")
        with self.assertWarnsRegex(UserWarning, "is not kept in"):
            book = Highwater(URL, version=VERSION, cache=self.folder / "below")
            self.assertEqual(book.summary()["strategy_count"], 8)


@unittest.skipUnless(URL, "no HISTORY_URL")
class Arrivals(unittest.TestCase):
    def test_an_answer_that_was_altered_on_its_way_is_refused(self):
        def alter(path, body):
            return body.replace(b"2026", b"2027") if "manifest" not in path and "snapshots" in path else body

        with Proxy(URL, alter=alter) as proxy:
            book = Highwater(proxy.url)
            for call in (book.returns, book.strategies, book.changes, lambda: book.returns("alder", risk_pct=0.01)):
                with self.assertRaises(HighwaterError) as caught:
                    call()
                self.assertEqual(caught.exception.code, "damaged")

    def test_busy_services_are_asked_again_after_retry_after_and_for_a_bounded_time(self):
        refusals = []

        def busy(path):
            if not refusals:
                return None
            status, after = refusals.pop(0)
            return (
                status,
                {} if after is None else {"Retry-After": after},
                b'{"error":{"code":"overloaded","message":"m","details":null}}',
            )

        with Proxy(URL, answer=busy) as proxy, mock.patch("time.sleep") as sleep:
            refusals += [(503, "7"), (429, None), (502, "Wed, 21 Oct 2015 07:28:00 GMT"), (504, "x")]
            self.assertEqual(Highwater(proxy.url).version, VERSION)
            self.assertEqual([call.args[0] for call in sleep.mock_calls], [7.0, 1.0, 2.0, 4.0])
            for status, after, retries, requests in (
                (503, "5", 2, 3),
                (503, "61", 4, 1),
                (500, None, 4, 1),
                (503, "0", 0, 1),
            ):
                refusals[:] = [(status, after)] * 9
                proxy.paths.clear()
                with self.assertRaises(HighwaterError) as caught:
                    Highwater(proxy.url, retries=retries)
                self.assertEqual(
                    (caught.exception.code, caught.exception.status, len(proxy.paths)), ("overloaded", status, requests)
                )

    def test_an_export_that_is_too_old_or_follows_a_removed_version_is_downloaded_whole(self):
        removed = set()

        def answer(path):
            body = b"t,elm\n2026-06-29,0.5\n2026-06-30,0.25\n"
            if path.endswith("changes"):
                previous = f"{pd.Timestamp(path.split('/')[3]) - pd.Timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
                changes = {"history_restated": False, "added": [], "removed": [], "previous": previous}
                body = json.dumps(changes).encode()
            status = 410 if any(day in path for day in removed) else 200
            return status, {"Unencoded-Digest": digest_of(body)}, body

        def requests(since):
            frame = Highwater(proxy.url, version=since).returns().iloc[:1]
            book = Highwater(proxy.url, version="2026-06-30T00:15:00Z")
            proxy.paths.clear()
            updated = book.update_export(frame)
            self.assertEqual(list(updated["elm"]), [0.5, 0.25])
            return len(proxy.paths), "from=" in proxy.paths[-1]

        with Proxy(answer=answer) as proxy:
            self.assertEqual(requests("2026-05-31T00:15:00Z"), (31, True))
            self.assertEqual(requests("2026-05-29T00:15:00Z"), (32, False))
            self.assertEqual(requests("2026-06-20T00:15:00Z"), (11, True))
            removed.add("20260625")
            self.assertEqual(requests("2026-06-20T00:15:00Z"), (7, False))

    def test_answers_that_end_early_are_asked_again_and_strange_ones_are_refused(self):
        answers = []
        with Proxy(URL, answer=lambda path: answers.pop(0) if answers else None) as proxy, mock.patch("time.sleep"):
            answers += [(200, {"Content-Length": "999"}, b"{}"), (200, {"Content-Encoding": "gzip"}, b"no gzip")]
            self.assertEqual(Highwater(proxy.url).version, VERSION)
            answers[:] = [(302, {"Location": "http://localhost:1/"}, b"")]
            with self.assertRaisesRegex(HighwaterError, "unexpected_answer: .* redirects to another origin"):
                Highwater(proxy.url)


if __name__ == "__main__":
    unittest.main()
