"""What verify() of the Python client finds, against a service of signed versions at SIGNED_URL and copies that are altered."""

import json
import os
import re
import sys
import tempfile
import unittest
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest import mock

from highwater_client import Highwater, HighwaterError
from highwater_client import verify as module
from proxy import Proxy

URL = os.environ.get("SIGNED_URL", "")
KEYS = "/.well-known/highwater-keys.json"


def flip(body):
    """The same bytes but one bit in the middle."""
    middle = len(body) // 2
    return body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :]


@unittest.skipUnless(URL, "no SIGNED_URL")
class Verify(unittest.TestCase):
    def faults(self, url, key=None, **options):
        with self.assertRaises(HighwaterError) as caught:
            Highwater(url, retries=0).verify(key, **options)
        self.assertEqual(caught.exception.code, "not_verified", caught.exception)
        return caught.exception.details

    def test_accepts_what_was_published_with_the_published_key_a_text_and_a_file(self):
        pem = json.loads(urllib.request.urlopen(URL + KEYS).read())["keys"][-1]["public_key_pem"]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "publisher.pem"
            file.write_text(pem)
            book = Highwater(URL, cache=Path(folder) / "cache")
            book.returns()
            for key in (None, pem, file, str(file)):
                log, signatures, files = book.verify(key)
                self.assertRegex(log, "^log: 2 entries without a gap")
                self.assertEqual(signatures, "signatures: of the newest entry and of the manifest")
                self.assertRegex(files, rf"^files: \d\d files of version {book.version} as published$")
            older = Highwater(URL, version=book.changes()["previous"])
            self.assertRegex(older.verify()[2], older.version)

    def test_names_what_was_altered_and_what_is_missing(self):
        root = Highwater(URL)._root
        for kind, faults in json.loads((Path(__file__).parent.parent / "tampered.json").read_text()).items():
            for path, fault in faults.items():
                tampered = path.format(root=root)
                alter = lambda at, body: flip(body) if (kind, at) == ("altered", tampered) else body
                with Proxy(URL, lambda at: (404, {}, b"") if (kind, at) == ("missing", tampered) else None, alter) as proxy:
                    self.assertRegex("; ".join(self.faults(proxy.url)), fault)
        with Proxy(URL, answer=lambda at: (404, {}, b"") if at == KEYS else None) as proxy:
            self.assertEqual(Highwater(proxy.url).verify(allow_unsigned=True)[1], "signatures: nothing is signed")

    def test_lists_all_files_that_are_altered(self):
        root = Highwater(URL)._root
        with Proxy(URL, alter=lambda at, body: flip(body) if at.startswith(f"{root}/strategies") else body) as proxy:
            self.assertGreater(len(self.faults(proxy.url)), 5)

    def test_refuses_a_log_that_was_written_again_with_another_key_or_is_expired_or_of_the_future(self):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        other = (
            Ed25519PrivateKey.generate()
            .public_key()
            .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            .decode()
        )
        self.assertRegex(self.faults(URL, other)[0], "is no signature of a trusted key")
        for days, fault in ((30, "expired at"), (-30, "later than it is")):
            clock = mock.Mock(wraps=datetime)
            clock.now = lambda zone, days=days: datetime.now(timezone.utc) + timedelta(days=days)
            with mock.patch.object(module, "datetime", clock):
                self.assertRegex(self.faults(URL)[0], fault)

    def test_finds_a_copy_on_disk_that_another_service_had_written(self):
        with tempfile.TemporaryDirectory() as folder:
            book = Highwater(URL, cache=folder)
            book._cache.write(f"{URL}{book._root}/summary", book.answer("/strategies"))
            with self.assertRaises(HighwaterError) as caught:
                book.verify()
            self.assertEqual(
                caught.exception.details, [f"{book._root}/summary is altered in the cache: remove the folder"]
            )

    def test_says_which_package_is_missing(self):
        hidden = {name: None for name in sys.modules if re.match("cryptography", name)}
        with mock.patch.dict(sys.modules, {"cryptography": None, "cryptography.exceptions": None, **hidden}):
            with self.assertRaisesRegex(HighwaterError, r"pip install 'highwater-client\[verify\]'") as caught:
                Highwater(URL).verify()
        self.assertEqual(caught.exception.code, "cryptography_missing")


if __name__ == "__main__":
    unittest.main()
