"""The Python client while versions are published: a POST to CONTROL publishes the next one and waits until it is served."""

import hashlib
import os
import tempfile
import unittest
import urllib.request
from pathlib import Path

import pandas as pd
from highwater_client import Highwater
from proxy import Proxy

URL, CONTROL = os.environ.get("VERSIONS_URL", ""), os.environ.get("CONTROL_URL", "")
FIRST, SECOND, THIRD, RESTATED = (f"2025-02-{day}T00:15:00Z" for day in (21, 22, 24, 25))


def publish_next():
    with urllib.request.urlopen(urllib.request.Request(CONTROL, method="POST"), timeout=200) as answer:
        return answer.read().decode()


def exported(version, query=""):
    compact = version.replace("-", "").replace(":", "")
    with urllib.request.urlopen(f"{URL}/v1/snapshots/{compact}/export?format=csv{query}") as answer:
        return answer.read()


@unittest.skipUnless(URL, "no VERSIONS_URL")
class Versions(unittest.TestCase):
    """One story, because versions are published in order and stay published."""

    def test_books_stay_pinned_and_exports_follow(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file, weekly, risky = (Path(folder.name) / name for name in ("all.csv", "weeks.csv", "risk.csv"))
        first = Highwater(URL)
        self.assertEqual(first.version, FIRST)
        frame = first.update_export(file)
        self.assertTrue(frame.equals(first.returns()))
        self.assertEqual(file.read_bytes(), exported(FIRST))
        first.update_export(weekly, period="weekly")
        first.update_export(risky, risk_pct=0.01)

        self.assertEqual([publish_next(), publish_next()], [SECOND, THIRD])
        self.assertTrue(first.returns().equals(frame))
        self.assertEqual(first.stats("elm", risk_pct=0.01)["end"], "2025-02-19")
        self.assertEqual(first.as_of("2025-02-23").version, SECOND)
        self.assertEqual([Highwater(URL, as_of=day).version for day in ("2025-02-21", "2025-02-24")], [FIRST, THIRD])

        with Proxy(URL) as proxy:
            self.only_new_days_are_downloaded(proxy, file, frame, weekly, risky)
            self.an_altered_or_foreign_file_is_downloaded_whole(proxy, file)
        self.assertEqual(publish_next(), RESTATED)
        self.a_restated_history_is_downloaded_whole(file)

    def only_new_days_are_downloaded(self, proxy, file, frame, weekly, risky):
        note = file.with_name("all.csv.json")
        note.write_text(note.read_text().replace(URL, proxy.url))
        third = Highwater(proxy.url)
        self.assertEqual(third.version, THIRD)
        proxy.paths.clear()
        updated = third.update_export(file)
        pinned = [f"/v1/snapshots/202502{day}T001500Z" for day in (24, 22)]
        self.assertEqual(proxy.paths[0], f"{pinned[0]}/changes")
        self.assertIn(f"{pinned[1]}/changes", proxy.paths)
        self.assertEqual(
            [path for path in proxy.paths if "export" in path], [f"{pinned[0]}/export?format=csv&from=2025-02-19"]
        )
        self.assertEqual(file.read_bytes(), exported(THIRD))
        proxy.paths.clear()
        self.assertTrue(third.update_export(file).equals(updated))
        self.assertEqual(proxy.paths, [])
        for each in (frame, frame.iloc[:-3]):
            followed = third.update_export(each)
            self.assertTrue(followed.equals(updated) and followed.attrs == updated.attrs)
            self.assertNotIn(f"{pinned[0]}/export?format=csv", proxy.paths)
        other = frame.copy()
        other.iloc[-1, 0] += 1
        for each in (other, frame[["elm"]], pd.DataFrame()):
            self.assertTrue(third.update_export(each).equals(updated))
        later = Highwater(URL)
        later.update_export(weekly, period="weekly")
        self.assertEqual(weekly.read_bytes(), exported(THIRD, "&period=weekly"))
        later.update_export(risky, risk_pct=0.01)
        self.assertEqual(risky.read_bytes(), exported(THIRD, "&risk_pct=0.01"))
        later.update_export(risky, risk_pct=0.02)
        self.assertEqual(risky.read_bytes(), exported(THIRD, "&risk_pct=0.02"))

    def an_altered_or_foreign_file_is_downloaded_whole(self, proxy, file):
        for spoil in (
            lambda: file.write_bytes(b"t,elm\n2025-02-19,1\n"),
            file.unlink,
            lambda: file.with_name("all.csv.json").write_text("{"),
        ):
            spoil()
            Highwater(proxy.url).update_export(file)
            self.assertEqual(file.read_bytes(), exported(THIRD))

    def a_restated_history_is_downloaded_whole(self, file):
        restated = Highwater(URL)
        self.assertEqual((restated.version, restated.changes()["history_restated"]), (RESTATED, True))
        before = Highwater(URL, version=THIRD).returns()
        updated = restated.update_export(before)
        self.assertFalse(updated.equals(before))
        self.assertTrue(updated.equals(restated.returns()))
        restated.update_export(file)
        self.assertEqual(hashlib.sha256(file.read_bytes()).digest(), hashlib.sha256(exported(RESTATED)).digest())


if __name__ == "__main__":
    unittest.main()
