"""Recomputes /v1/strategies/{sid}/live of a Highwater history service. Python 3.11, standard library only.

It reads what is public: opened seals, trades, daily returns, since when a position is open, and the length of the bars as the
publisher states it. It prints the answer as it has to be, by the definitions in docs/figures.md, and compares it with the
published one. It trusts the seals: docs/verifying.md checks that they are signed, complete and not altered.
"""

import argparse
import base64
import hashlib
import json
import math
import re
import sys
import urllib.error
import urllib.request
from datetime import date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Context, Decimal

EXAMPLES = """examples:
  live.py http://127.0.0.1:8080 alder
  live.py https://data.example.org alder --risk 0.01

exit status: 0 equal, 1 different, 2 wrong usage or no answer
"""
DAY, IN_TIME, YEAR, FEWEST = 86_400_000, 900_000, 365, 90
BATCH = re.compile(r"after (0|[1-9][0-9]*)\n([0-9a-f]{64}\n)*")
WORDS = ("sealed", "late", "missed", "halted", "by_hand")


def load(address, optional=False):
    try:
        with urllib.request.urlopen(address, timeout=60) as response:
            return response.read().decode()
    except urllib.error.HTTPError as error:
        if optional and error.code == 404:
            return None
        raise


def ms(text):
    """Epoch milliseconds of an instant."""
    moment = datetime.fromisoformat(text)
    return round((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) / timedelta(milliseconds=1))


def day_of(text):
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def instant(at):
    return f"{datetime.fromtimestamp(at / 1000, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def iso(day):
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


# The seals


def read_seals(service, until):
    """The seals of the days up to `until` that are opened, and what was opened of them; None without any."""
    first = load(f"{service}/v1/seals/000000001", optional=True)
    if first is None:
        return None
    since = first.split("\n")[3].split(" ")
    seals, items, lost, skipped, stamps, opened_to, last, newest = [], [], [], [], [], None, None, None
    for day in range(day_of(since[1][:10]), day_of(until) + 1):
        opening = load(f"{service}/v1/seals/openings/{iso(day)}.jsonl", optional=True)
        if opening is None:
            last = None
            continue
        head, *lines = [json.loads(line) for line in opening.split("\n")[:-1]]
        opened_to = iso(day)
        stamps += head["stamps"]
        own = load(f"{service}/v1/seals/days/{iso(day)}").split("highwater/seal/v1\n")[1:]
        digest = hashlib.sha256(f"highwater/seal/v1\n{own[-1]}".encode()).digest()
        seals += [seal.split("\n")[:3] for seal in own]
        newest = {"n": int(seals[-1][1]), "digest": base64.b64encode(digest).decode()}
        numbers = [line["n"] for line in lines]
        if numbers != [n for n in (int(seal.split("\n")[1]) for seal in own) if n in numbers]:
            raise ValueError(f"the opening of {iso(day)} has lines twice, in another order, or of other seals")
        for line in lines:
            if "lost" in line:
                lost.append({"n": line["n"], "why": line["lost"]})
                last = None
                continue
            if not BATCH.fullmatch(line["batch"]):
                raise ValueError(f"the batch of seal {line['n']} has another form")
            after, found = int(line["batch"].split("\n")[0][6:]), [json.loads(item) for item in line["items"]]
            items += [(line["n"], item) for item in found]
            if last is not None and after > last:  # of a new chain
                skipped.append({"from": last + 1, "to": after})
            last = after
            for seq in (item["seq"] for item in found if "event" not in item):
                if seq > last + 1:
                    skipped.append({"from": last + 1, "to": seq - 1})
                last = seq
    spans = {int(n): span.split(" ") for _, n, span in seals}
    origins = [(origin, int(n)) for origin, n, _ in seals]
    facts = {
        "since": since[0],
        "opened_to": opened_to,
        "seals": len(seals),
        "newest": newest,
        "gaps": [{"from": a, "to": b} for a, b in spans.values() if ms(b) - ms(a) > 600_000],
        "lost": lost,
        "skipped": skipped,
        "stamped_by": stamps[-1]["by"] if stamps else None,
        "origins": [{"origin": o, "n": n} for i, (o, n) in enumerate(origins) if i == 0 or origins[i - 1][0] != o],
    }
    stamped = {n: next((ms(stamp["at"]) for stamp in stamps if stamp["n"] >= n), None) for n in spans}
    return facts, items, {n: ms(span[1]) for n, span in spans.items()}, stamped


def absent_of(opened, catalogue):
    """Strategies that were live and are not in the catalogue."""
    named = {item.get("alias") for _, item in opened[1]} - {None, "*", *catalogue}
    return sorted(alias for alias in named if record_of(alias, opened) != ([], []))


def record_of(sid, opened):
    """The signals and the orders of a strategy; none if it was never live."""
    signals, events = [], []
    _, items, sealed, stamped = opened or (None, [], {}, {})
    for n, item in items:
        if item.get("alias") == sid and "event" not in item and not item["is_test"]:
            own = {name: item[name] for name in ("seq", "action", "mode")}
            own |= {"timestamp": ms(item["timestamp"]), "stamped": stamped[n], "by": item.get("by", "unknown")}
            signals.append(own | {"n": n, "sealed": sealed[n]})
        elif item.get("alias") in (sid, "*") and item.get("event") in ("live", "ended", "halt", "resume"):
            own = {name: item[name] for name in ("event", "alias", "by", "why")}
            events.append(own | {"at": ms(item["at"]), "n": n, "sealed": sealed[n]})
    ever = bool(live_entries(signals)) or any(each["event"] == "live" for each in events)
    return (signals, events) if ever else ([], [])


# Judging


def live_entries(signals):
    """With the time of the decision, which is not after the seal."""
    entries = [each for each in signals if each["action"] != "flat" and each["mode"] == "LIVE"]
    return [each | {"t": min(each["timestamp"], each["sealed"])} for each in entries]


def periods_of(entries, events):
    turns = [(each["sealed"], "live") for each in entries] + [(each["sealed"], each["event"]) for each in events]
    periods = []
    for at, what in sorted(turns, key=lambda turn: turn[0]):
        is_live = bool(periods) and periods[-1][1] == math.inf
        if what == "live" and not is_live:
            periods.append([at, math.inf])
        elif what == "ended" and is_live:
            periods[-1][1] = at
    return periods


def is_halted(events, fill, deadline):
    halted = set()
    for event in events:
        at = min(event["at"], event["sealed"])
        if event["event"] == "halt" and at <= fill and event["sealed"] <= deadline:
            halted.add(event["alias"])
        elif event["event"] == "resume" and at < fill:
            halted.discard(event["alias"])
    return bool(halted)


def judge(trades, open_since, entries, events, bar_minutes, end, periods):
    unused, words, held = list(entries), [], []

    def take(since, until, side):
        for each in unused:
            if since - IN_TIME <= each["t"] < until and side in (None, each["action"]):
                unused.remove(each)
                return each
        return None

    for trade in trades:
        fill, leave = trade["entry_time"], trade["exit_time"]
        bar = bar_minutes and bar_minutes * 60_000
        deadline = min(fill + IN_TIME, (fill // bar + 1) * bar if bar else math.inf)
        signal = take(fill, min(max(leave, fill + 1), fill + DAY), trade["side"])
        in_time = signal is not None and signal["sealed"] <= deadline
        if signal is None:
            word = "halted" if is_halted(events, fill, deadline) else "missed"
        else:
            word = "by_hand" if signal["by"].startswith("operator:") else "sealed" if in_time else "late"
        is_judged = deadline < end and any(since <= fill < until for since, until in periods)
        words.append(word if is_judged else None)
        held.append((fill // DAY, leave // DAY, in_time))
    if open_since is not None:
        first = day_of(open_since)
        over = (first + 1) * DAY
        signal = take(first * DAY, over, None)
        held.append((first, math.inf, signal is not None and signal["sealed"] <= over + IN_TIME))
    return words, held, len(unused)


# Figures


def spread(delays):
    ranked = sorted(delays)
    rank = lambda p: ranked[math.ceil(p * len(ranked)) - 1] / 1000 if ranked else Null("too_few_points")
    return {"count": len(ranked), "median": rank(0.5), "p99": rank(0.99)}


class Null(str):
    """A figure that is null, and the reason."""


def deviation(values):
    """With n - 1; 0 if the values are the same but for rounding."""
    if not values or max(values) - min(values) <= 1e-12:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def path(returns, k):
    n, equity, peak, deepest = len(returns), 1.0, 1.0, 0.0
    for value in returns:
        equity *= max(1 + k * value, 0)
        if equity < peak * (1 - 1e-12):
            deepest = min(deepest, equity / peak - 1)
        peak = max(peak, equity)
    few, ruin = Null("too_few_points"), Null("ruin")
    sharpe = few if n < FEWEST else Null("zero_variance")
    if n >= FEWEST and (sd := deviation(returns)):
        sharpe = math.fsum(returns) / n / sd * math.sqrt(YEAR)
    volatility = few if n < 2 else 100 * k * deviation(returns) * math.sqrt(YEAR)
    return {
        "net_return_pct": 100 * (equity - 1) if n else few,
        "cagr_pct": Null("less_than_one_year") if n < YEAR else 100 * (equity ** (YEAR / n) - 1),
        "max_drawdown_pct": 100 * deepest if n else few,
        "sharpe_daily_annualized": sharpe if equity else ruin,
        "volatility_annualized_pct": volatility if equity else ruin,
    }


def figures(source, k):
    returns, trades, open_since = source["returns"], source["trades"], source["open_since"]
    signals, events, facts = source["signals"], source["events"], source["seals"]
    opened_to = -math.inf if facts is None or facts["opened_to"] is None else day_of(facts["opened_to"])
    entries = live_entries(signals)
    periods = periods_of(entries, events)
    end = (opened_to + 1) * DAY
    words, held, unmatched = judge(trades, open_since, entries, events, source["bar_minutes"], end, periods)

    gaps = [(ms(gap["from"]), ms(gap["to"])) for gap in facts["gaps"]] if facts else []
    touches = lambda gap, day: gap[0] < (day + 1) * DAY and gap[1] > day * DAY
    days = []
    for point in returns:
        day = day_of(point["t"])
        if day <= opened_to and any(since <= day * DAY < until for since, until in periods):
            kinds = {in_time for first, last, in_time in held if first <= day <= last}
            days.append((day, point["ret"], kinds))
    modelled = [ret for _, ret, _ in days]
    sealed = [0.0 if kinds == {False} else ret for _, ret, kinds in days]
    has_trades = bool(trades) or open_since is not None
    off = deviation([a - b for a, b in zip(modelled, sealed)]) * math.sqrt(YEAR)
    as_sealed = path(sealed, k)
    return {
        "live_since": instant(periods[0][0]) if periods else None,
        "ended_on": iso(periods[-1][1] // DAY) if periods and periods[-1][1] < math.inf else None,
        "days": {
            "live": len(days),
            "sealed": sum(not any(touches(gap, day) for gap in gaps) for day, _, _ in days),
            "gaps": sum(any(touches(gap, day) for day, _, _ in days) for gap in gaps),
        },
        "entries": {
            "judged": sum(word is not None for word in words),
            **{word: words.count(word) for word in WORDS},
            "unmatched": unmatched,
        },
        "delay_seconds": {
            "claimed": spread(each["sealed"] - each["t"] for each in entries),
            "stamped": spread(each["stamped"] - each["t"] for each in entries if each["stamped"] is not None),
        },
        "modelled": path(modelled, k),
        "as_sealed": as_sealed if has_trades else dict.fromkeys(as_sealed, Null("no_trades")),
        "days_left_out": sum(kinds == {False} for _, _, kinds in days),
        "days_shared": sum(len(kinds) == 2 for _, _, kinds in days),
        "tracking_error_pct": Null("no_trades")
        if not has_trades
        else Null("too_few_points")
        if len(days) < FEWEST
        else 100 * k * off,
    }, words


def publish(node, path, undefined):
    """As on the wire: numbers of 6 decimals, a half away from zero, and null for what is undefined, with the reason elsewhere."""
    if isinstance(node, dict):
        return {name: publish(child, f"{path}/{name}".lstrip("/"), undefined) for name, child in node.items()}
    if isinstance(node, Null):
        undefined[path] = str(node)
        return None
    if isinstance(node, float):
        return float(Decimal(node).quantize(Decimal("1e-6"), ROUND_HALF_UP, Context(prec=400))) + 0.0
    return node


def recompute(service, sid, risk):
    """What /live has to be, what it is, and what `live` of /trades has to be and is."""
    data = lambda path: json.loads(load(service + path))["data"]
    root = "/v1/snapshots/" + data("/v1/dataset")["version"].replace("-", "").replace(":", "")
    own = f"{root}/strategies/{sid}"
    strategy, published = data(own), data(f"{own}/live" + (f"?risk_pct={risk}" if risk else ""))
    opened = read_seals(service, data(f"{root}/dataset")["window"]["to"])
    signals, events = record_of(sid, opened)
    if opened:
        opened[0]["absent"] = absent_of(opened, [each["id"] for each in data(f"{root}/strategies")])
    source = {
        "returns": data(f"{own}/returns"),
        "trades": data(f"{own}/trades"),
        "open_since": data(f"{own}/stats")["fund_dd"]["exposure"]["open_since"],
        "signals": signals,
        "events": events,
        "seals": opened and opened[0],
        "bar_minutes": published["bar_minutes"],
    }
    values, words = figures(source, risk / strategy["base_risk_pct"] if risk else 1)
    undefined = {}
    answer = publish(values, "", undefined)
    answer |= {name: source[name] for name in ("bar_minutes", "seals", "events", "signals")}
    return answer | {"undefined": undefined}, published, words, [trade["live"] for trade in source["trades"]]


def main():
    usage = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=usage)
    parser.add_argument("url", help="the address of the history service")
    parser.add_argument("strategy")
    parser.add_argument("--risk", type=float, help="the risk level, a fraction of equity per trade; base risk if not given")
    args = parser.parse_args()
    try:
        answer, published, words, theirs = recompute(args.url.rstrip("/"), args.strategy, args.risk)
    except (OSError, ValueError, KeyError) as error:
        print(f"live.py: {error!r}", file=sys.stderr)
        return 2
    print(json.dumps(answer, indent=2))
    for name in {**answer, **published}:
        if answer.get(name) != published.get(name):
            print(f"{name} is published as {json.dumps(published.get(name))}", file=sys.stderr)
    if words != theirs:
        print(f"live of /trades is published as {json.dumps(theirs)}", file=sys.stderr)
    return 0 if answer == published and words == theirs else 1


if __name__ == "__main__":
    sys.exit(main())
