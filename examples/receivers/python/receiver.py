"""A receiver of trade signals. Copy this file, put your own code into trade(), and start it with Python 3.9 or newer:

    export HIGHWATER_URL=https://signals.example.org HIGHWATER_KEY=hw_live_... WEBHOOK_SECRET=whsec_...
    python3 receiver.py

Every signal since its first start reaches trade() in the order of `seq`, whatever is lost, doubled or late on the way:

    push   POST /signals: verify, answer 200, then work               within a second after a strategy fires
    pull   at the start, every minute, and when a push shows a gap    everything that a push did not bring
    state  STATE_FILE (SQLite), a row per finished signal             nothing is done again after a restart
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

    When it raises, the signal stays open and comes again, and those behind it wait. When the machine dies after the order
    and before the row in STATE_FILE, it comes again too: give `signal_id` to your venue as the id of the order, so that the
    venue refuses the second one. After an outage signals come late: look at `timestamp` before you enter at an old price.
    """
    say("TRADE #{seq} {alias} {action} at {signal_price}, stop {stop}, {implied_leverage} x capital".format(**order))


# ---- settings ----------------------------------------------------------------------------------------------------------


def required(name):
    if os.environ.get(name):
        return os.environ[name]
    sys.exit(f"{name} is not set: export it, as the first lines of this file show")


HIGHWATER_URL = required("HIGHWATER_URL").rstrip("/")
HIGHWATER_KEY = required("HIGHWATER_KEY")
# Two while you change over: first the new one, then the old one until its 24 hours are over.
SECRETS = [s for s in (required("WEBHOOK_SECRET"), os.environ.get("WEBHOOK_SECRET_OLD")) if s]
STATE_FILE = os.environ.get("STATE_FILE", "receiver.sqlite")
PULL_SECONDS = float(os.environ.get("PULL_SECONDS", "60"))
ADDRESS = (os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8090")))

UNKNOWN = float("inf")
SCHEMA_VERSION = "1.0"  # another one may mean another thing, and wants to be read about first
MOST_BODY_BYTES = 64 * 1024  # a signal has some 400 bytes: nobody needs to send more than this
PAGE = 500  # signals per page of a pull
TIMEOUT_SECONDS = 10  # a pull that hangs is given up and tried again; a push that dribbles is cut off
TOLERANCE_SECONDS = 300  # an older delivery in the form of Standard Webhooks is an eavesdropper's


# ---- is it really from them? -------------------------------------------------------------------------------------------


def has_x_signature(body, headers):
    """`X-Signature: sha256=<hex>`. The key is the secret as it was shown; the text is the body, byte for byte."""
    digests = [hmac.new(secret.encode(), body, hashlib.sha256).hexdigest() for secret in SECRETS]
    return any(is_equal(headers.get("X-Signature", ""), f"sha256={digest}") for digest in digests)


def has_standard_signature(body, headers):
    """`webhook-signature: v1,<base64> v1,<base64>`. The key is what the secret encodes; id and time come first."""
    stamp = headers.get("webhook-timestamp", "")
    if abs(time.time() - to_number(stamp)) > TOLERANCE_SECONDS:
        return False
    text = f"{headers.get('webhook-id')}.{stamp}.".encode() + body
    keys = [base64.b64decode(secret.replace("whsec_", "", 1)) for secret in SECRETS]
    expected = ["v1," + base64.b64encode(hmac.digest(key, text, "sha256")).decode() for key in keys]
    given = headers.get("webhook-signature", "").split()
    return any(is_equal(one, other) for one in expected for other in given)


def is_equal(one, other):
    """Takes the same time wherever two texts differ, so that nobody can guess a signature letter by letter."""
    return hmac.compare_digest(one.encode(), other.encode())


# SIGNATURE=standard-webhooks takes the other form, which any library of standardwebhooks.com verifies too.
is_signed = has_standard_signature if os.environ.get("SIGNATURE") == "standard-webhooks" else has_x_signature


# ---- what was done already ---------------------------------------------------------------------------------------------


class State:
    """What outlives a restart. The main thread alone asks it.

    `began_after` is where you began: what was fired before is history, and no order for you. Another `epoch` says that the
    service was restored from a copy: everything since is read again, and what was done before is known by its signal_id.
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


# ---- work, one piece at a time -----------------------------------------------------------------------------------------

state = State(STATE_FILE)
pushes = queue.SimpleQueue()  # of (signal, previous seq); None wakes the program up to end
stopping = threading.Event()
told_tests = set()  # tests that were pushed before a pull has passed them, which then says nothing of them again
first_pushed = UNKNOWN  # the first signal that was pushed before a pull could tell where the log stands


def receive(order, prev_seq):
    """A push. `X-Prev-Seq` names the signal that you were sent before this one: when you have not done that, ask for it."""
    global first_pushed
    if order.get("is_test"):
        if state.is_done(order["signal_id"]):
            return None
        told_tests.add(order["signal_id"])
        return say(f"skipped #{order['seq']}, a test")
    first_pushed = min(first_pushed, order["seq"])
    if state.epoch is not None and prev_seq <= state.last_seq:
        finish(order)
    else:
        pull()  # brings this one too, in its place


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
        return None  # the key goes to nobody else


def get(path):
    request = urllib.request.Request(HIGHWATER_URL + path, headers={"X-API-Key": HIGHWATER_KEY})
    with urllib.request.build_opener(NoRedirects).open(request, timeout=TIMEOUT_SECONDS) as answer:
        return json.load(answer)


def finish(order):
    """Each signal once, in its order; tests and dry runs are looked at and put aside."""
    seq, signal_id = order["seq"], order["signal_id"]
    if stopping.is_set() or seq <= state.last_seq:
        return
    if order["schema_version"] != SCHEMA_VERSION:
        raise ValueError(f"#{seq} has schema version {order['schema_version']}: read what changed, raise SCHEMA_VERSION")
    if state.is_done(signal_id):
        say(f"skipped #{seq}, done before")
    elif order["mode"] == "LIVE" and order["is_test"] is False:
        trade(order)
    elif signal_id not in told_tests:
        say(f"skipped #{seq}, {'a test' if order['is_test'] else order['mode']}")
    told_tests.discard(signal_id)
    state.finish(signal_id, seq)


def say(line):
    print(line, flush=True)


# ---- the door ----------------------------------------------------------------------------------------------------------


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECONDS

    def do_POST(self):
        length = to_number(self.headers.get("Content-Length", ""))
        # The raw bytes: parsed and written again they are others.
        body = b"" if length == UNKNOWN else self.rfile.read(min(length, MOST_BODY_BYTES + 1))
        if length > MOST_BODY_BYTES:
            return self.answer(413, "too large, or of unknown length")
        if self.path != "/signals":
            return self.answer(404, "the signals go to /signals")
        if not is_signed(body, self.headers):
            return self.answer(401, "no valid signature")
        order = parse(body)
        if order is None:
            return self.answer(400, "no signal")
        pushes.put((order, to_number(self.headers.get("X-Prev-Seq", ""))))
        self.answer(200, "ok")  # at once: who answers late is sent the signal again

    def answer(self, status, text):
        self.send_response(status)
        if status == 413:
            self.send_header("Connection", "close")  # what was not read would be taken for the next request
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def parse(body):
    """The signal, or None. Further fields may come one day: they are let through."""
    try:
        order = json.loads(body)
        return order if isinstance(order["signal_id"], str) and type(order["seq"]) is int else None
    except (ValueError, TypeError, KeyError):
        return None


def to_number(text):
    """The whole number of a header; one that is missing or odd is larger than every other."""
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
    server = ThreadingHTTPServer(ADDRESS, Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    say(f"listening on http://{ADDRESS[0]}:{server.server_port}/signals")
    push, pull_at = (), 0.0
    while not stopping.is_set():  # ends the trade that is under way, and goes; the rest is pulled at the next start
        try:
            receive(*push) if push else pull()
        except Exception as error:  # told and not lost: the next pull begins behind the last finished signal
            print(f"not finished, the next pull tries again: {error}", file=sys.stderr, flush=True)
        if not push:
            pull_at = time.monotonic() + PULL_SECONDS
        push = next_push(pull_at)
    server.shutdown()


if __name__ == "__main__":
    main()
