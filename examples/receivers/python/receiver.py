"""A receiver of trade signals. Copy this file, put your own code into trade(), and start it with Python 3.9 or newer:

    export HIGHWATER_URL=https://signals.example.org HIGHWATER_KEY=hw_live_... WEBHOOK_SECRET=whsec_...
    python3 receiver.py

Every signal since the first start reaches trade() in the order of `seq`, even if deliveries are lost, duplicated or late:

    push   POST /signals: verify, answer 200, then work               within a second after a strategy fires
    pull   at the start, every minute, and when a push shows a gap    everything that no push delivered
    state  STATE_FILE (SQLite), a row per finished signal             no signal is processed twice after a restart
"""

import base64
import hashlib
import hmac
import json
import os
import queue
import re
import signal
import sqlite3
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def trade(order):
    """YOUR CODE GOES HERE. It gets every signal that may be traded, one at a time.

    If it raises, the signal stays open and is passed again, and later signals wait. If the machine fails after the order
    and before the row in STATE_FILE, the signal is passed again too: use `signal_id` as the id of the order at your venue,
    so that the venue refuses the second one. After an outage signals are late: check `timestamp` before you enter at an old
    price.
    """
    say("TRADE #{seq} {alias} {action} at {signal_price}, stop {stop}, {implied_leverage} x capital".format(**order))


# ---- settings ----------------------------------------------------------------------------------------------------------


def required(name):
    if os.environ.get(name):
        return os.environ[name]
    sys.exit(f"{name} is not set: export it, as the first lines of this file show")


HIGHWATER_URL = required("HIGHWATER_URL").rstrip("/")
HIGHWATER_KEY = required("HIGHWATER_KEY")
# Two while the secret is rotated: the new one, and the old one until its 24 hours have passed.
SECRETS = [s for s in (required("WEBHOOK_SECRET"), os.environ.get("WEBHOOK_SECRET_OLD")) if s]
STATE_FILE = os.environ.get("STATE_FILE", "receiver.sqlite")
PULL_SECONDS = float(os.environ.get("PULL_SECONDS", "60"))
ADDRESS = (os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8090")))

UNKNOWN = float("inf")
SCHEMA_VERSION = "1.0"  # the fields of another version may mean something else: read its changes first
MOST_BODY_BYTES = 64 * 1024  # a signal has about 400 bytes; larger requests are refused
PAGE = 500  # signals per page of a pull
TIMEOUT_SECONDS = 10  # a pull that hangs is aborted and repeated; a slow push is cut off
TOLERANCE_SECONDS = 300  # maximum age of a delivery in the Standard Webhooks format, against replayed requests


# ---- signatures --------------------------------------------------------------------------------------------------------


def has_x_signature(body, headers):
    """`X-Signature: sha256=<hex>`. The key is the secret as it was shown; the message is the body, byte for byte."""
    digests = [hmac.new(secret.encode(), body, hashlib.sha256).hexdigest() for secret in SECRETS]
    return any(is_equal(headers.get("X-Signature", ""), f"sha256={digest}") for digest in digests)


def has_standard_signature(body, headers):
    """`webhook-signature: v1,<base64> v1,<base64>`. The key is the decoded secret; id and time come first."""
    stamp = headers.get("webhook-timestamp", "")
    if abs(time.time() - to_number(stamp)) > TOLERANCE_SECONDS:
        return False
    text = f"{headers.get('webhook-id')}.{stamp}.".encode() + body
    keys = [base64.b64decode(secret.replace("whsec_", "", 1)) for secret in SECRETS]
    expected = ["v1," + base64.b64encode(hmac.digest(key, text, "sha256")).decode() for key in keys]
    given = headers.get("webhook-signature", "").split()
    return any(is_equal(one, other) for one in expected for other in given)


def is_equal(one, other):
    """Compares in constant time, so that a signature cannot be guessed character by character."""
    return hmac.compare_digest(one.encode(), other.encode())


# SIGNATURE=standard-webhooks selects the other format, which any library of standardwebhooks.com can verify.
is_signed = has_standard_signature if os.environ.get("SIGNATURE") == "standard-webhooks" else has_x_signature


# ---- state -------------------------------------------------------------------------------------------------------------


class State:
    """The state that survives a restart. Only the main thread uses it.

    `began_after` is the start: signals fired before it are history and are not traded. A new `epoch` means that the service
    was restored from a backup: everything since the start is read again, and finished signals are known by their signal_id.
    """

    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None)  # every statement is on the disk when it returns
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute("CREATE TABLE IF NOT EXISTS log (epoch TEXT, began_after INTEGER, last_seq INTEGER)")
        self.db.execute("CREATE TABLE IF NOT EXISTS done (signal_id TEXT PRIMARY KEY, seq INTEGER)")
        self.epoch, self.began_after, self.last_seq = self.db.execute("SELECT * FROM log").fetchone() or (None, 0, 0)

    def begin(self, epoch, began_after):
        with self.db:  # both or neither
            self.db.execute("BEGIN")
            self.db.execute("DELETE FROM log")
            self.db.execute("INSERT INTO log VALUES (?, ?, ?)", (epoch, began_after, began_after))
        self.epoch, self.began_after, self.last_seq = epoch, began_after, began_after

    def is_done(self, signal_id):
        return self.db.execute("SELECT 1 FROM done WHERE signal_id = ?", (signal_id,)).fetchone() is not None

    def finish(self, signal_id, seq):
        with self.db:
            self.db.execute("BEGIN")
            self.db.execute("INSERT OR IGNORE INTO done VALUES (?, ?)", (signal_id, seq))
            self.db.execute("UPDATE log SET last_seq = ?", (seq,))
        self.last_seq = seq


# ---- work, one task at a time ------------------------------------------------------------------------------------------

state = State(STATE_FILE)
pushes = queue.SimpleQueue()  # of (signal, previous seq); None wakes the main thread to stop
stopping = threading.Event()
logged_tests = set()  # tests that were pushed and logged; the pull that passes them does not log them again
first_pushed = UNKNOWN  # the first signal that was pushed before the first pull


def receive(order, prev_seq):
    """A push. `X-Prev-Seq` is the signal that was sent to you before this one: if you have not processed it, pull."""
    global first_pushed
    if state.is_done(order["signal_id"]):
        return None
    if order.get("is_test"):
        logged_tests.add(order["signal_id"])
        return say(f"skipped #{order['seq']}, a test")
    first_pushed = min(first_pushed, order["seq"])
    if state.epoch is not None and prev_seq <= state.last_seq < order["seq"]:  # else the log may be another
        finish(order)
    else:
        pull()  # returns this one too, in order


def pull():
    """Everything after the last finished signal, page by page."""
    head = get("/v1/signals/head")["data"]
    if head["epoch"] != state.epoch:
        state.begin(head["epoch"], min(head["seq"], first_pushed - 1) if state.epoch is None else state.began_after)
        say(f"the log is {state.epoch}: everything after #{state.began_after} is read")
    path = f"/v1/signals/history?since={state.last_seq}&limit={PAGE}"
    while path is not None and not stopping.is_set():
        page = get(path)
        for order in page["data"]:
            finish(order)
        path = page["links"].get("next")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # the key is sent to no other server


def get(path):
    request = urllib.request.Request(HIGHWATER_URL + path, headers={"X-API-Key": HIGHWATER_KEY})
    with urllib.request.build_opener(NoRedirects).open(request, timeout=TIMEOUT_SECONDS) as answer:
        return json.load(answer)


def finish(order):
    """Processes each signal once, in order; tests and dry runs are skipped."""
    seq, signal_id = order["seq"], order["signal_id"]
    if stopping.is_set() or seq <= state.last_seq:
        return
    if order["schema_version"] != SCHEMA_VERSION:
        raise ValueError(f"#{seq} has schema version {order['schema_version']}: read what changed, raise SCHEMA_VERSION")
    if state.is_done(signal_id):
        say(f"skipped #{seq}, done before")
    elif order["mode"] == "LIVE" and order["is_test"] is False:
        trade(order)
    elif signal_id not in logged_tests:
        say(f"skipped #{seq}, {'a test' if order['is_test'] else order['mode']}")
    logged_tests.discard(signal_id)
    state.finish(signal_id, seq)


def say(line):
    print(line, flush=True)


# ---- server ------------------------------------------------------------------------------------------------------------


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECONDS

    def do_POST(self):
        length = to_number(self.headers.get("Content-Length", ""))
        # The raw bytes: JSON that is parsed and serialised again has others.
        body = b"" if length == UNKNOWN else self.rfile.read(min(length, MOST_BODY_BYTES + 1))
        if length > MOST_BODY_BYTES:
            return self.answer(413, "too large, or of unknown length")
        if self.path != "/signals":
            return self.answer(404, "the signals go to /signals")
        if not is_signed(body, self.headers):
            return self.answer(401, "no valid signature")
        order = parse(body)
        if order is None:
            return self.answer(400, "not a signal")
        pushes.put((order, to_number(self.headers.get("X-Prev-Seq", ""))))
        self.answer(200, "ok")  # at once: if the answer is late, the signal is sent again

    def answer(self, status, text):
        self.send_response(status)
        if status == 413:
            self.send_header("Connection", "close")  # otherwise the unread rest would be parsed as the next request
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def parse(body):
    """The signal, or None. Unknown fields are allowed: later versions may add some."""
    try:
        order = json.loads(body)
        return order if isinstance(order["signal_id"], str) and type(order["seq"]) is int else None
    except (ValueError, TypeError, KeyError):
        return None


def to_number(text):
    """The integer of a header; a missing or invalid one is larger than every other."""
    return int(text) if re.fullmatch("[0-9]{1,16}", text) else UNKNOWN


def stop(*_):
    stopping.set()
    pushes.put(None)


def next_push(pull_at):
    """The next push, or () when it is time for a pull."""
    try:
        return pushes.get(timeout=max(0, pull_at - time.monotonic()))
    except queue.Empty:
        return ()


def main():
    server = ThreadingHTTPServer(ADDRESS, Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    say(f"listening on http://{ADDRESS[0]}:{server.server_port}/signals")
    push, pull_at = (), 0.0
    while not stopping.is_set():  # finishes the current trade and exits; the rest is pulled at the next start
        try:
            receive(*push) if push else pull()
        except Exception as error:  # logged; nothing is lost: the next pull begins after the last finished signal
            print(f"not finished, the next pull tries again: {error}", file=sys.stderr, flush=True)
        if not push:
            pull_at = time.monotonic() + PULL_SECONDS
        push = next_push(pull_at)
    server.shutdown()


if __name__ == "__main__":
    main()
