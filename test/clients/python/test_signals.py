"""Signals and webhooks of the Python client: a pull service at SIGNALS_URL, and DELIVERIES that the service has signed."""

import json
import os
import threading
import time
import unittest
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from highwater_client import Highwater, HighwaterError, Signals, check_seals, verify_webhook
from proxy import Proxy

URL, KEY = os.environ.get("SIGNALS_URL", ""), os.environ.get("SIGNALS_KEY", "")
DELIVERIES = json.loads(os.environ.get("DELIVERIES", "{}"))
CASES = os.environ.get("SEAL_CASES", "")


@unittest.skipUnless(URL, "no SIGNALS_URL")
class Pull(unittest.TestCase):
    def test_yields_every_signal_after_a_number_over_any_pages(self):
        for page in (1, 2, 1000):
            with Proxy(URL) as proxy:
                feed = Signals(proxy.url, KEY)
                self.assertEqual([signal["seq"] for signal in feed.signals(page=page)], [1, 2, 3, 4, 5])
                self.assertEqual([signal["signal_id"] for signal in feed.signals(3, page=page)], ["s4", "s5"])
                self.assertEqual(list(feed.signals(since=5)), [])
                self.assertEqual({headers["X-Api-Key"] for headers in proxy.headers}, {KEY})
        self.assertEqual(Signals(URL, KEY).head()["seq"], 5)

    def test_a_wrong_key_is_refused_and_no_key_is_sent_to_another_server(self):
        with self.assertRaisesRegex(HighwaterError, "wrong_service: .* is not the address of the history service"):
            Highwater(URL)
        with self.assertRaises(HighwaterError) as caught:
            list(Signals(URL, "hw_live_wrong").signals())
        self.assertEqual((caught.exception.code, caught.exception.status), ("unauthorized", 401))
        with Proxy(URL) as target, Proxy(answer=lambda path: (307, {"Location": target.url + path}, b"")) as proxy:
            with self.assertRaisesRegex(HighwaterError, "redirects to another origin"):
                Signals(proxy.url, KEY).head()
            self.assertEqual(target.paths, [])

    def test_polls_for_ever_and_pulls_everything_again_after_a_new_epoch(self):
        logs = [("a", [1, 2]), ("a", [1, 2, 3]), ("b", [1, 2, 7]), ("b", [1, 2, 7, 8])]

        def answer(path):
            epoch, seqs = logs[0]
            if "head" in path:
                return 200, {}, json.dumps({"data": {"epoch": epoch, "seq": seqs[-1]}}).encode()
            since = int(path.split("since=")[1].split("&")[0])
            data = [{"seq": seq, "signal_id": f"s{seq}"} for seq in seqs if seq > since]
            meta = {"expired": [{"seq": 3, "endpoints": ["backup"]}]} if 3 in seqs else {}
            return 200, {}, json.dumps({"data": data, "links": {}, "meta": meta}).encode()

        with Proxy(answer=answer) as proxy, mock.patch("time.sleep", lambda seconds: logs.pop(0)):
            feed = Signals(proxy.url, KEY, seals=False).signals(poll=60, endpoint="backup")
            got = [next(feed) for _ in range(5)]
        self.assertEqual([signal["seq"] for signal in got], [1, 2, 3, 7, 8])
        self.assertEqual([signal.get("expired") for signal in got], [None, None, ["backup"], None, None])
        self.assertEqual(
            [path for path in proxy.paths if "since=0" in path][1:],
            ["/v1/signals/history?since=0&limit=1000&endpoint=backup"],
        )


@unittest.skipUnless(CASES, "no SEAL_CASES")
class Seals(unittest.TestCase):
    def test_judges_every_case_as_the_other_client_does(self):
        for case in json.loads(Path(CASES).read_text()):
            with self.subTest(case["name"]):
                objects = {name: text.encode() for name, text in case["objects"].items()}
                delivered = {int(seq): text for seq, text in case["delivered"].items()}
                try:
                    state = check_seals(case["receipts"], delivered, objects.get, case["state"])
                    says = [state["checked_seq"], state["head"]["n"]]
                except HighwaterError as error:
                    says = error.message if error.code == "seal_mismatch" else error.code
                self.assertEqual(says, case["says"])
        with self.assertRaisesRegex(HighwaterError, "not_published"):
            check_seals([], {}, {}.get, {"checked_seq": 0})

    def follow(self, url, path):
        begin, seqs = time.time(), []
        now = [begin]

        def sleep(seconds):
            now[0] += 721
            for thread in threading.enumerate():
                if thread.name == "seals":
                    thread.join()
            if now[0] > begin + 3000:
                raise KeyboardInterrupt

        with mock.patch("time.sleep", sleep), mock.patch("time.time", lambda: now[0]):
            try:
                for signal in Signals(url, KEY, seals=path).signals(poll=1):
                    seqs.append(signal["seq"])
            except (KeyboardInterrupt, HighwaterError) as end:
                return seqs, getattr(end, "message", "")

    def test_checks_what_it_yielded_later_and_keeps_a_mismatch_until_its_file_is_removed(self):
        altered = "signal 2 as it was delivered is not in the batch of seal 1: it was altered"
        alter = lambda path, body: body.replace(b'"s2"', b'"s9"') if "history" in path else body  # noqa: E731
        with TemporaryDirectory() as folder, Proxy(URL, alter=alter) as liar:
            path = Path(folder, "seals.json")
            self.assertEqual(self.follow(URL, path), ([1, 2, 3, 4, 5], ""))
            self.assertEqual(json.loads(path.read_text())["checked_seq"], 5)
            path.unlink()
            self.assertEqual(self.follow(liar.url, path), ([1, 2, 3, 4, 5], altered))
            self.assertEqual(self.follow(URL, path), ([1, 2, 3, 4, 5], altered))
            path.unlink()
            self.assertEqual(self.follow(URL, path)[1], "")
        with Proxy(URL, answer=lambda path: (404, {}, b"") if "seals" in path else None) as mute:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(self.follow(mute.url, True)[1], "")
                self.assertRegex(str(caught[0].message), "seals are not checked")
                count = len(caught)
                self.assertEqual((self.follow(mute.url, False)[1], len(caught)), ("", count))


@unittest.skipUnless(URL, "no SIGNALS_URL")
class Subscriber(unittest.TestCase):  # after the others in the alphabet: each registration adds a test to the log
    def test_an_endpoint_is_set_changed_tested_rotated_and_removed_and_its_deliveries_are_explained(self):
        feed, url = Signals(URL, KEY), "https://backup.example.org/token"
        self.assertRegex(feed.set_endpoint("backup", url)["secret"], "^whsec_")
        feed.set_endpoint("backup", url)  # each registration is a signed test with a number
        changed = feed.change_endpoint("backup", filter=["alder"], expire_entries_after_s=300, headers={"x-team": "a"})
        self.assertEqual((changed["filter"], changed["header_names"]), (["alder"], ["x-team"]))
        first = [row["seq"] for row in feed.deliveries(endpoint="backup", limit=1)]
        self.assertEqual((len(first), first[0] - 1), (2, first[1]))  # a page for each
        self.assertEqual(feed.test_endpoint("backup")["seq"], first[0] + 1)
        self.assertRegex(feed.rotate_secret("backup", overlap_hours=1)["secret"], "^whsec_")
        self.assertEqual([len(each["secrets"]) for each in feed.endpoints()], [2])
        whys = {each["endpoint"]: each["why"] for each in feed.delivery(first[0])["endpoints"]}
        self.assertRegex(whys["backup"], "delivered")
        self.assertEqual(feed.resend(1, 2, endpoint="backup", dry_run=True), {"signals": 0, "owed_again": 0})
        self.assertEqual(feed.notices(), [])
        feed.remove_endpoint("backup")
        self.assertEqual(feed.endpoints(), [])
        with self.assertRaisesRegex(HighwaterError, "not_found"):
            feed.test_endpoint("back/up")

    def test_a_change_is_repeated_only_if_it_was_refused_and_never_follows_a_redirect(self):
        for status, sent in ((429, 2), (503, 1), (302, 1)):
            answer = lambda path: (status, {"Retry-After": "0", "Location": "/v1/notices"}, b"")  # noqa: B023, E731
            with Proxy(answer=answer) as proxy:
                with self.assertRaises(HighwaterError) as caught:
                    Signals(proxy.url, KEY, retries=1).resend(1)
                self.assertEqual((caught.exception.status, len(proxy.paths)), (status, sent))


@unittest.skipUnless(DELIVERIES, "no DELIVERIES")
class Webhooks(unittest.TestCase):
    def verified(self, name, secret, **changes):
        delivery = DELIVERIES[name]
        return verify_webhook({**delivery["headers"], **changes}, delivery["body"].encode(), secret)

    def assert_refused(self, *args, refusal=("bad_signature", 401), **changes):
        with self.assertRaises(HighwaterError) as caught:
            self.verified(*args, **changes)
        self.assertEqual((caught.exception.code, caught.exception.status), refusal)
        return caught.exception.message

    def test_a_delivery_of_the_service_is_its_signal(self):
        signal = self.verified("plain", DELIVERIES["new"])
        self.assertEqual((signal["seq"], signal["signal_id"]), (1, "s1"))
        delivery = DELIVERIES["plain"]
        upper = {name.upper(): value for name, value in delivery["headers"].items()}
        self.assertEqual(verify_webhook(upper, delivery["body"].encode(), [DELIVERIES["new"]]), signal)

    def test_either_secret_verifies_while_it_is_changed(self):
        for secret in (
            DELIVERIES["new"],
            DELIVERIES["old"],
            [DELIVERIES["old"], DELIVERIES["new"]],
            (DELIVERIES["other"], DELIVERIES["old"]),
        ):
            self.assertEqual(self.verified("rotated", secret)["seq"], 1)
        self.assert_refused("rotated", DELIVERIES["other"])
        self.assert_refused("plain", DELIVERIES["old"])

    def test_what_was_altered_recorded_or_is_no_delivery_is_refused(self):
        new, headers = DELIVERIES["new"], DELIVERIES["plain"]["headers"]
        with self.assertRaises(HighwaterError):
            verify_webhook(headers, DELIVERIES["plain"]["body"].encode() + b" ", new)
        stamp = int(headers["webhook-timestamp"])
        for changes in (
            {"webhook-timestamp": str(stamp + 1)},
            {"webhook-id": "s2"},
            {"webhook-signature": "v1,"},
            {"webhook-signature": "é"},
        ):
            self.assert_refused("plain", new, **changes)
        self.assertRegex(self.assert_refused("stale", new), "differs from this clock by more than 300 s")
        self.assert_refused("strange", new, refusal=("bad_request", 400))
        self.assertRegex(self.assert_refused("early", new), "differs from this clock")
        self.assertEqual(
            verify_webhook(DELIVERIES["stale"]["headers"], DELIVERIES["stale"]["body"].encode(), new, tolerance=7200)[
                "seq"
            ],
            1,
        )
        with self.assertRaises(HighwaterError):
            verify_webhook({}, b"{}", new)

    def test_a_notice_is_handed_on_and_refused_with_204(self):
        seen, delivery = [], DELIVERIES["notice"]
        for more in ({}, {"on_notice": seen.append}):
            with self.assertRaises(HighwaterError) as caught:
                verify_webhook(delivery["headers"], delivery["body"].encode(), DELIVERIES["new"], **more)
            self.assertEqual((caught.exception.code, caught.exception.status), ("notice", 204))
        self.assert_refused("notice", DELIVERIES["other"])
        self.assertEqual(seen, [json.loads(delivery["body"])])

    def test_a_secret_of_another_form_is_an_error_of_the_caller(self):
        for secret in (
            "",
            "whsec_",
            "whsec_short",
            DELIVERIES["new"][6:],
            DELIVERIES["new"][:-1],
            DELIVERIES["new"][:-3] + "!!=",
        ):
            with self.assertRaisesRegex(ValueError, "copy it whole|base64"):
                self.verified("plain", secret)


if __name__ == "__main__":
    unittest.main()
