"""A receiver of trade signals. Copy this file, put your own code into trade(), and start it with Python 3.9 or newer:

    export HIGHWATER_URL=https://signals.example.org HIGHWATER_KEY=hw_live_... WEBHOOK_SECRET=whsec_...
    python3 receiver.py

Every signal since the first start reaches trade() in the order of `seq`, even if deliveries are lost, duplicated or late:

    push   POST /signals: verify, answer 200, then work               within a second after a strategy fires
    pull   at the start, every minute, and when a push shows a gap    everything that no push delivered
    state  STATE_FILE (SQLite), a row per finished signal             no signal is processed twice after a restart
    check  every 12 minutes: your signals are sealed in public        what was sent to you cannot be changed unnoticed
"""

import base64
import hashlib
import hmac
import json
import os
import queue
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from functools import partial
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
# SEALS=off checks no seals. They are checked with and without signals: the rhythm of the requests says nothing of these.
SEALS_SECONDS = float("inf") if os.environ.get("SEALS") == "off" else float(os.environ.get("SEALS_SECONDS", "720"))
HISTORY_URL = os.environ.get("HISTORY_URL", "").rstrip("/")  # where you know the seals to be; else the service says it
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
        self.db.execute("CREATE TABLE IF NOT EXISTS unchecked (seq INTEGER PRIMARY KEY, body TEXT)")
        self.db.execute("CREATE TABLE IF NOT EXISTS seals (state TEXT)")
        self.epoch, self.began_after, self.last_seq = self.db.execute("SELECT * FROM log").fetchone() or (None, 0, 0)

    def begin(self, epoch, began_after):
        with self.db:  # both or neither
            self.db.execute("BEGIN")
            self.db.execute("DELETE FROM log")
            self.db.execute("INSERT INTO log VALUES (?, ?, ?)", (epoch, began_after, began_after))
        self.epoch, self.began_after, self.last_seq = epoch, began_after, began_after

    def is_done(self, signal_id):
        return self.db.execute("SELECT 1 FROM done WHERE signal_id = ?", (signal_id,)).fetchone() is not None

    def finish(self, signal_id, seq, body):
        with self.db:
            self.db.execute("BEGIN")
            self.db.execute("INSERT OR IGNORE INTO done VALUES (?, ?)", (signal_id, seq))
            self.db.execute("INSERT OR REPLACE INTO unchecked VALUES (?, ?)", (seq, body))
            self.db.execute("UPDATE log SET last_seq = ?", (seq,))
        self.last_seq = seq

    def seals(self):
        """What is known of the seals, which begins with what was processed last, and the signals that are not checked yet."""
        row = self.db.execute("SELECT state FROM seals").fetchone()
        if row is None:
            self.keep_seals({"checked_seq": self.last_seq})
        known = json.loads(row[0]) if row else {"checked_seq": self.last_seq}
        return known, dict(self.db.execute("SELECT * FROM unchecked"))

    def keep_seals(self, known):
        with self.db:
            self.db.execute("BEGIN")
            self.db.execute("DELETE FROM seals")
            self.db.execute("INSERT INTO seals VALUES (?)", (json.dumps(known),))
            self.db.execute("DELETE FROM unchecked WHERE seq <= ?", (known["checked_seq"],))


# ---- work, one task at a time ------------------------------------------------------------------------------------------

state = State(STATE_FILE)
tasks = queue.SimpleQueue()  # of functions; None wakes the main thread to stop
stopping = threading.Event()
logged_tests = set()  # tests that were pushed and logged; the pull that passes them does not log them again
first_pushed = UNKNOWN  # the first signal that was pushed before the first pull


def receive(order, prev_seq, body):
    """A push. `X-Prev-Seq` is the signal that was sent to you before this one: if you have not processed it, pull."""
    global first_pushed
    if state.is_done(order["signal_id"]):
        return None
    if order.get("is_test"):
        logged_tests.add(order["signal_id"])
        return say(f"skipped #{order['seq']}, a test")
    first_pushed = min(first_pushed, order["seq"])
    if state.epoch is not None and prev_seq <= state.last_seq < order["seq"]:  # else the log may be another
        finish(order, body)
    else:
        pull()  # returns this one too, in order


def pull():
    """Everything after the last finished signal, page by page."""
    head = get("/v1/signals/head")["data"]
    if head["epoch"] != state.epoch:
        state.begin(head["epoch"], min(head["seq"], first_pushed - 1) if state.epoch is None else state.began_after)
        say(f"the log is {state.epoch}: everything after #{state.began_after} is read")
    state.seals()  # the first time: checking begins with what is processed after it
    path = f"/v1/signals/history?since={state.last_seq}&limit={PAGE}"
    while path is not None and not stopping.is_set():
        text = get_text(HIGHWATER_URL + path)
        page = json.loads(text)
        for order, body in zip(page["data"], rows_of(text)):
            finish(order, body)
        path = page["links"].get("next")


def rows_of(text):
    """The exact text of each row of a page: serialised again it may differ."""
    at = text.index("[") + 1
    while text[at] != "]":
        end = json.JSONDecoder().raw_decode(text, at)[1] if text[at] == "{" else at + 1
        if end > at + 1:
            yield text[at:end]
        at = end


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # the key is sent to no other server


def get(path):
    return json.loads(get_text(HIGHWATER_URL + path))


def get_text(url, headers={"X-API-Key": HIGHWATER_KEY}):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.build_opener(NoRedirects).open(request, timeout=TIMEOUT_SECONDS) as answer:
        return answer.read().decode()


def finish(order, body):
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
    state.finish(signal_id, seq, body)


def say(line):
    print(line, flush=True)


# ---- seals -------------------------------------------------------------------------------------------------------------


class Mismatch(Exception):
    """Something that must not be: it is printed at each check until it is deleted from STATE_FILE."""


OTHER = "another chain is shown to you than before"
MOST_SEALS = 6  # that may pass before a signal is in one of them
SEAL = re.compile(
    r"(highwater/seal/v1\n(?P<origin>\S+)\n(?P<n>\d{9})\n(?P<begin>(?P<day>\d{4}-\d\d-\d\d)\S{10}) (?P<end>\S{20})\n"
    r"(?P<commitment>\S{44})\n(?P<prev>\S{44})\n\d{9} \S{44}\n)\n— \S+ (?P<signature>\S+)\n"
)


checking = threading.Thread()


def begin_check():
    """Checks that what was sent is what is sealed, on a thread of its own: no signal waits for it."""
    global checking
    if state.epoch is not None and not checking.is_alive():
        checking = threading.Thread(target=check, args=(*state.seals(), state.last_seq), daemon=True)
        checking.start()


def check(known, unchecked, last_seq):
    try:
        found = checked(known, unchecked, last_seq)
        say(f"signals up to #{found['checked_seq']} are sealed: {found['head']['n']} {found['head']['digest']}")
        tasks.put(partial(state.keep_seals, found))
    except Mismatch as error:
        print(f"SEALS DO NOT MATCH: {error}", file=sys.stderr, flush=True)
        tasks.put(partial(state.keep_seals, {**known, "fault": str(error)}))
    except Exception as error:  # nothing is lost: the next check begins where this one did
        print(f"seals are not checked, the next check tries again: {error}", file=sys.stderr, flush=True)


def checked(before, delivered, last_seq):
    if "fault" in before:
        raise Mismatch(before["fault"])
    known, since = before.get("head"), before["checked_seq"]
    receipts, read = read_receipts(since)

    def find(name):
        found = read(name)
        if found is None:
            raise Mismatch(f"{name} of the seals is missing: {OTHER}") if known else ValueError("nothing is sealed yet")
        return found

    head = parse_seal(find("head"))
    if known and head["n"] < known["n"]:
        head = parse_seal(find(f"{known['n']:09}"))  # a cache may have an old head
    # A later one is published in a moment, or its signal is not finished.
    shown = [row for row in receipts if row["n"] <= head["n"] and row["seq"] <= last_seq]
    chain = read_chain(read, head, known or head, min([head["n"], *(row["n"] for row in shown)]))
    if known and chain[known["n"]]["digest"] != known["digest"]:
        raise Mismatch(f"seal {known['n']} is not the one that you saw: {OTHER}")
    key = known["key"] if known else find(f"keys/{head['origin'].split('/')[1]}.pem")
    if not is_signed_by(key, head):
        raise Mismatch(f"seal {head['n']} is not signed by the key that you know: {OTHER}")
    for row in shown:
        check_receipt(row, delivered.get(row["seq"]), chain.get(row["n"], {}).get("commitment"))
    last, sealed = shown[-1]["seq"] if shown else since, {row["seq"] for row in receipts}
    seq = min((each for each in delivered if each > since and each not in sealed), default=None)
    waiting = None if seq is None else {"seq": seq, "n": head["n"]}
    if seq is not None and (before.get("waiting") or {}).get("seq") == seq:
        waiting = before["waiting"]
    if waiting and (seq < last or head["n"] > waiting["n"] + MOST_SEALS):
        left_out = "it was left out, or is no longer one of yours"
        raise Mismatch(f"signal {seq} was delivered to you, and no seal up to {head['n']} has it: {left_out}")
    kept = {name: head[name] for name in ("n", "digest", "origin")}
    return {"checked_seq": last, "head": {**kept, "key": key}, "waiting": waiting}


def read_receipts(since):
    """The receipts of your signals after a number, and what reads the public chain: no key is sent there."""
    receipts, path = [], f"/v1/signals/seals?since={since}"
    while path is not None:
        page = get(path)
        receipts += page["data"]
        path = page["links"].get("next")
    base = f"{HISTORY_URL}/v1/seals/" if HISTORY_URL else page["links"].get("seals")
    if base is None:
        raise ValueError("the service does not say where its seals are")

    def read(name):
        try:
            return get_text(base + name, {})
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None

    return receipts, read


def parse_seal(text):
    found = SEAL.fullmatch(text)
    if found is None:
        raise Mismatch("a published seal has another form: it was altered")
    digest = to_base64(sha256(text.encode()))
    return {**found.groupdict(), "text": found[1], "n": int(found["n"]), "digest": digest}


def read_chain(read, head, known, first):
    """The seals from the head back to the known one; if an earlier one is needed, the first, back to it and over whole days, so
    that no read says in which seal a signal is. Those of a day that is over are in one file."""
    seals, shown, at, today = {head["n"]: head}, {}, head, head["end"][:10]
    while True:
        if at["origin"] != known["origin"]:
            raise Mismatch(f"seal {at['n']} is of {at['origin']}, not of {known['origin']}: another chain began; ask why")
        n, day = at["n"] - 1, at["day"]
        if n == 0 or n < min(first, known["n"]) and (first >= known["n"] or day != today):
            return seals
        if n not in shown:
            text = read(f"days/{day}" if day < today else f"{n:09}") or ""
            shown.update({int(each["n"]): each[0] for each in SEAL.finditer(text)})
        if n not in shown:
            raise Mismatch(f"seal {n} is missing: withheld or removed")
        before = parse_seal(shown[n])
        if (at["prev"], at["begin"]) != (before["digest"], before["end"]):
            raise Mismatch(f"seal {at['n']} does not continue seal {n}: one of the two was altered, or the chain was forked")
        seals[n] = at = before


def is_signed_by(key, seal):
    """By the command openssl, 1.1.1 or newer: Python has no Ed25519 of its own."""
    if shutil.which("openssl") is None:
        if not hasattr(is_signed_by, "said"):
            is_signed_by.said = True
            say("there is no openssl on this machine: signatures of seals are not checked, everything else is")
        return True
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("key", "text", "signature")]
        for path, content in zip(paths, (key.encode(), seal["text"].encode(), base64.b64decode(seal["signature"])[4:])):
            with open(path, "wb") as file:
                file.write(content)
        names = ("-inkey", "-in", "-sigfile")
        options = [word for pair in zip(names, paths) for word in pair]
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin", *options]
        return subprocess.run(command, capture_output=True).returncode == 0


def check_receipt(row, body, commitment):
    if not re.fullmatch(r"after (0|[1-9][0-9]*)\n([0-9a-f]{64}\n)*", row["batch"]):
        raise Mismatch(f"the batch of signal {row['seq']} has another form: it was altered")
    salt, seal_salt = base64.b64decode(row["r"]), base64.b64decode(row["s_n"])
    line = sha256(salt + (body or "").encode()).hex()
    if body is not None and (len(salt) != 32 or line not in row["batch"].split("\n")):
        raise Mismatch(f"signal {row['seq']} as it was delivered is not in the batch of seal {row['n']}: it was altered")
    digest = sha256(seal_salt + sha256(row["batch"].encode()))
    if len(seal_salt) != 32 or to_base64(digest) != commitment:
        raise Mismatch(f"the batch of signal {row['seq']} is not what seal {row['n']} commits to: it was altered later")


def sha256(content):
    return hashlib.sha256(content).digest()


def to_base64(content):
    return base64.b64encode(content).decode()


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
        if "seq" not in order:
            say(f"notice {order['event']}, {order.get('endpoint') or order.get('key_id')}: {order.get('reason')}")
            return self.answer(200, "ok")
        tasks.put(partial(receive, order, to_number(self.headers.get("X-Prev-Seq", "")), body.decode(errors="replace")))
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
    """The signal, or a notice of your account, which has no `seq`, or None. Unknown fields are allowed: later versions may add some."""
    try:
        order = json.loads(body)
        if isinstance(order.get("event"), str) and "seq" not in order:
            return order
        return order if isinstance(order["signal_id"], str) and type(order["seq"]) is int else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def to_number(text):
    """The integer of a header; a missing or invalid one is larger than every other."""
    return int(text) if re.fullmatch("[0-9]{1,16}", text) else UNKNOWN


def stop(*_):
    stopping.set()
    tasks.put(None)


def next_task(at):
    """The next push, or nothing if a pull or a check is due at that time."""
    try:
        return tasks.get(timeout=max(0, at - time.monotonic()))
    except queue.Empty:
        return None


def main():
    server = ThreadingHTTPServer(ADDRESS, Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    say(f"listening on http://{ADDRESS[0]}:{server.server_port}/signals")
    pull_at, check_at = 0.0, time.monotonic() if SEALS_SECONDS < UNKNOWN else UNKNOWN
    while not stopping.is_set():  # finishes the current trade and exits; the rest is pulled at the next start
        task = next_task(min(pull_at, check_at))
        if task is None and pull_at <= check_at:
            task, pull_at = pull, time.monotonic() + PULL_SECONDS
        elif task is None:  # a trade that took long does not shift the rhythm
            task, check_at = begin_check, check_at + SEALS_SECONDS * ((time.monotonic() - check_at) // SEALS_SECONDS + 1)
        try:
            if not stopping.is_set():
                task()
        except Exception as error:  # logged; nothing is lost: the next pull begins after the last finished signal
            print(f"not finished, the next pull tries again: {error}", file=sys.stderr, flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()
