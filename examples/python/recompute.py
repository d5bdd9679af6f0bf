"""Recomputes the figures of a Highwater history service from its open data. Python 3.11 and pandas, nothing else.

It reads the daily returns and the trades of one version, computes every figure that they determine by the definitions
in docs/figures.md, and compares it with the published one, digit by digit.

A published number is equal if it is the recomputed one rounded to as many digits: the exact (binary) value of the
double, a half away from zero, as `decimal` has it. Sums of doubles in another order differ from about the 15th digit on, so where the recomputed number is within 1e-12 of the
middle between two published ones, either is right: such numbers pass, and are counted as ties.

What open data do not determine is listed with the reason, and must lie in the range that the published figures beside
it leave: see bounds.py. A field that is not known fails.
"""

import argparse
import gzip
import json
import math
import re
import sys
import urllib.error
import urllib.request
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal

import bounds
import pandas as pd
from book import correlation, correlation_answer, diversification, equal_weight_book
from bounds import NOT_RECOMPUTABLE, Between, between
from comparisons import benchmark, rolling, since_publication
from figures import Account, Null, annual, complete_weeks, date, drawdowns, monthly, performance, reasons, risk_adjusted
from risk import risk
from trades import exposure, ledger, results_by_side, trade_figures

EXAMPLES = """examples:
  recompute.py http://127.0.0.1:8080
  recompute.py https://data.example.org --strategy alder --risk 0.01 --risk 0.05
  recompute.py http://127.0.0.1:8000 --version 2026-07-01T00:15:00Z    # published files on any file server

exit status: 0 all equal, 1 differences, 2 wrong usage or unusable answers
"""
TEXT = ("ccy",)  # describes, and is no figure


# The open data


class Unusable(Exception):
    """There is nothing to compare: the service is not reachable, or answers something else."""


class Missing(Unusable):
    """There is no such answer."""


class Source:
    """One version of a history service, or of its published files under any file server."""

    def __init__(self, url, version):
        self.url = url.rstrip("/")
        if version is None:
            version = self.load("/v1/current.json")["version"]
        compact = re.sub("[-:]", "", version)
        self.version = re.sub(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z", r"\1-\2-\3T\4:\5:\6Z", compact)
        self.root = f"/v1/snapshots/{compact}"
        self.keys, self.entered = None, None
        try:
            self.load(f"{self.root}/summary")
        except Missing:  # a file server has files alone, which the manifest names
            artifacts = self.load(f"{self.root}/manifest.json")["artifacts"]
            self.keys = {each["url"]: each["key"] for each in artifacts}

    def get(self, path):
        """The answer at a path below /v1: its data and its meta."""
        address = self.root + path if self.keys is None else "/" + self.keys["/v1" + path]
        answer = self.load(address)
        if answer["meta"]["dataset_version"] != self.version:
            raise Unusable(f"{address} is of version {answer['meta']['dataset_version']}, not {self.version}")
        self.entered = answer["meta"]["generated_utc"]  # of every answer of a version, and its name unless that is older
        return answer["data"], answer["meta"]

    def load(self, address):
        try:
            request = urllib.request.Request(self.url + address, headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request, timeout=60) as response:
                body = response.read()
            return json.loads(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
        except urllib.error.HTTPError as error:
            raise (Missing if error.code == 404 else Unusable)(f"{self.url}{address} answered {error.code}") from error
        except (OSError, EOFError, ValueError) as error:
            raise Unusable(f"{self.url}{address}: {getattr(error, 'reason', error)}") from error


# Comparing


@dataclass(frozen=True)
class Digits:
    """How a number is published: with so many decimals, or so many significant digits."""

    decimals: int | None = 6
    significant: int | None = None
    floor: float = 1e-15  # of the noise of significant digits: numbers near 0 are what larger ones leave

    def unit(self, x):
        """One unit of the last published digit of x; a published 0 is exactly 0 if digits are significant."""
        if self.significant is None:
            return 10.0**-self.decimals
        return 10.0 ** (Decimal(x).adjusted() + 1 - self.significant) if x else 0.0

    def rounded(self, x):
        if self.significant is not None:
            return float(Context(prec=self.significant, rounding=ROUND_HALF_UP).create_decimal(x))
        return float(Decimal(x).quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP, Context(prec=400)))

    def noise(self, x):
        return 1e-12 * abs(x) + (1e-12 if self.significant is None else self.floor)


PERCENT, CORRELATION, RETURN, ROLLING = Digits(), Digits(8), Digits(None, 10), Digits(None, 10, 1e-12)
DIGITS = {
    **dict.fromkeys(("ret", "equity"), RETURN),
    **dict.fromkeys(("matrix", "correlation", "mean_correlation", "mean_pairwise_correlation"), CORRELATION),
}


def digits_of(name, path, otherwise):
    return PERCENT if path.startswith("fund_dd/") else DIGITS.get(name, otherwise)


GROUPS = """headline equal_weight_book diversification trades risk_adjusted drawdowns monthly annual exposure
    benchmark since_publication costs excursions replays undefined""".split()


@dataclass
class Block:
    of: set = field(default_factory=set)
    values: int = 0
    ties: int = 0
    following: int = 0
    differences: list = field(default_factory=list)


class Report:
    def __init__(self):
        self.blocks = defaultdict(Block)
        self.listed = {}  # fields that are published and not recomputed, with the reason

    def compare(self, block, sid, published, expected, path="", digits=PERCENT):
        """Compares a published tree with the recomputed one: numbers, words and nulls. A group counts as a block."""
        if isinstance(expected, dict) and isinstance(published, dict):
            for name in dict.fromkeys([*expected, *published]):
                at, where = f"{path}/{name}".lstrip("/"), name if name in GROUPS else block
                if name in expected and name in published:
                    self.compare(where, sid, published[name], expected[name], at, digits_of(name, at, digits))
                elif name in expected:
                    self.differ(where, sid, at, "nothing", expected[name])
                elif at not in TEXT:
                    self.differ(where, sid, at, published[name], "nothing: this program does not know the field")
        elif isinstance(expected, list) and isinstance(published, list) and len(expected) == len(published):
            for i, (mine, theirs) in enumerate(zip(expected, published)):
                self.compare(block, sid, theirs, mine, f"{path}/{i}", digits)
        else:
            here = self.blocks[block]
            here.of.add(sid)
            here.values += 1
            here.following += isinstance(expected, Between)
            if (name := bounds.listed(path)) is not None:
                self.listed[name] = NOT_RECOMPUTABLE[name]
            verdict = equality(published, expected, digits)
            here.ties += verdict == "tie"
            if verdict == "different":
                self.differ(block, sid, path, published, expected)

    def differ(self, block, sid, path, published, expected):
        self.blocks[block].differences.append((sid, path, published, expected))


def equality(published, expected, digits):
    is_number = isinstance(published, (int, float)) and not isinstance(published, bool)
    if isinstance(expected, Null) or expected is None:
        return "equal" if published is None else "different"
    if isinstance(expected, Between):
        half = 0.5000001 * digits.unit(published) if is_number else 0
        inside = is_number and expected.low - half <= published <= expected.high + half
        return "equal" if inside else "different"
    if isinstance(expected, (str, bool, dict, list)) or not is_number:
        return "equal" if type(published) is type(expected) and published == expected else "different"
    expected = float(expected)
    if not math.isfinite(expected):
        return "different"
    if digits.rounded(expected) == published:
        return "equal"
    return "tie" if abs(expected - published) <= digits.unit(expected) / 2 + digits.noise(expected) else "different"


# What is published, against what is recomputed


def wide(rows, names):
    index = pd.DatetimeIndex([row["t"] for row in rows])
    return pd.DataFrame([row["rets"] for row in rows], index=index, columns=names, dtype=float)


BOOK = "equal_weight_book"


def check_book(report, source):
    """The returns of all strategies side by side, and what is made of them. Returns the tables, with that of the benchmarks."""
    tables = {}
    for period, query, fewest in (("daily", "", 30), ("weekly", "?period=weekly", 12)):
        export, _ = source.get(f"/export{query}")
        tables[period] = wide(export["rows"], export["ids"])
        matrix, overlap = correlation(tables[period], fewest)
        expected = correlation_answer(matrix, overlap, fewest)
        report.compare(f"correlation {period}", "the book", source.get(f"/correlation{query}")[0], expected)
        report.compare(f"correlation {period}", "the book", export["correlation"], expected)
        if period == "daily":
            summary, _ = source.get("/summary")
            spread, book = diversification(matrix, summary["diversification"]), equal_weight_book(tables["daily"])
    expected = {
        "strategy_count": len(export["ids"]),
        "coverage": {"from": book["coverage"]["from"], "to": book["coverage"]["to"]},
        "mean_pairwise_correlation": spread["mean_correlation"],
        "equal_weight_book": book,
        "diversification": spread,
    }
    figures = {name: value for name, value in summary.items() if name != "removed"}  # a list of strategies, no figure
    report.compare("summary", "the book", figures, expected)
    held, _ = source.get("/benchmark")
    book = [{"t": row["t"], "ret": row["rets"][BOOK]} for row in held["rows"] if BOOK in row["rets"]]
    if book:  # versions of older programs have no such column
        report.compare(BOOK, "the book", book, points(tables["daily"].mean(axis=1).fillna(0.0), "ret"))
    tables["stress"] = source.get("/dataset")[0].get("stress_periods", [])
    tables["benchmark"] = wide(held["rows"], held["instruments"])
    return tables


def weeks(daily):
    """Weeks are compounded from days in full precision: the published digits of the days leave a range for each."""
    half = daily.map(RETURN.unit) / 2
    low, high = complete_weeks(daily - half), complete_weeks(daily + half)
    return pd.Series([Between(*ends) for ends in zip(low - 1e-15, high + 1e-15)], index=low.index, dtype=object)


def rows(table):
    """A table as rows by day, with None for NaN."""
    cells = table.astype(object).where(table.notna(), None)
    return [{"t": date(day), **dict(row)} for day, row in cells.iterrows()]


def points(values, name):
    return [{"t": date(day), name: value} for day, value in values.items()]


def check_strategy(report, source, item, tables, levels):
    sid = item["id"]
    path, daily, weekly = f"/strategies/{sid}", tables["daily"][sid].dropna(), tables["weekly"][sid].dropna()
    report.compare("returns", sid, source.get(f"{path}/returns")[0], points(daily, "ret"))
    report.compare("returns", sid, source.get(f"{path}/returns?period=weekly")[0], points(weekly, "ret"))
    report.compare("weeks", sid, points(weekly, "ret"), points(weeks(daily), "ret"))
    trades, published = ledger(source.get(f"{path}/trades")[0]), source.get(f"{path}/stats")[0]
    days = (trades["exit_time"] - trades["entry_time"]) / 86_400_000
    report.compare("trades", sid, trades["duration_days"].tolist(), days.tolist())

    base, account = item["base_risk_pct"], Account(daily, weekly)
    market = tables["benchmark"].get(item["instrument"])
    due, null = published["fund_dd"], published["undefined"]
    by_trades = trade_figures(trades, len(daily))
    on_equity = bounds.trades_on_equity(due["trades"], results_by_side(trades), base, len(daily))
    both = {side: {**by_trades[side], **on_equity[side]} for side in ("long", "short")}
    by_trades.update(on_equity, **both)
    unknown = null.get("fund_dd/excursions/mae_r/mean"), null.get("fund_dd/costs/at_twice_the_costs/net_return_pct")

    def rescaled_at(level):
        at_level = performance(Account(daily, weekly, level / base))
        names = ("net_return_pct", "cagr_pct", "max_drawdown_pct", "sharpe_daily_annualized")
        return {name: at_level[name] for name in names}

    in_market, theirs = exposure(trades, daily), due["exposure"]
    is_open = theirs["average_concurrent_positions"] is not None and any(
        equality(theirs[name], in_market[name], PERCENT) == "different" for name in in_market
    )
    exposed = bounds.exposure_with_open(theirs, in_market) if is_open else in_market
    if "open_since" in theirs:  # a day that is not in /trades; files of older programs have no such field
        exposed["open_since"] = theirs["open_since"] if is_open else None
    expected = {
        "trades": by_trades,
        "risk_adjusted": risk_adjusted(account, due["risk_adjusted"].get("trials")),  # declared
        "drawdowns": drawdowns(account),
        "monthly": monthly(account),
        "annual": annual(account, trades),
        "exposure": exposed,
        "benchmark": benchmark(account, market),
        "since_publication": since_publication(daily, item["published_since"], source.entered),
        "costs": bounds.costs(due["costs"], by_trades, len(daily), unknown[1]),
        "excursions": bounds.excursions(due["excursions"], by_trades, unknown[0]),
        "replays": bounds.replays(due["replays"], published, base, rescaled_at),
    }
    ledger_names = ("win_rate_pct", "profit_factor", "profit_factor_notional")
    of_ledger = {"trade_count": by_trades["count"], **{name: by_trades[name] for name in ledger_names}}
    leverage = item["leverage_max"]

    def stats_at(k, at_level):
        """The whole answer at k times the base risk, as far as it is not one of the published figures on equity."""
        top = {**performance(at_level), **of_ledger}
        null = {**reasons(top), **reasons({"fund_dd": expected})}
        top["win_rate_pct"] = 0 if trades.empty else top["win_rate_pct"]
        top["leverage_max"] = None if leverage is None else between(lambda most: k * most, leverage)
        top["refused_above_risk_pct"] = bounds.refused_above(published["refused_above_risk_pct"], item, due["replays"])
        return {**top, "fund_dd": expected, "undefined": null}

    def compare_risk(block, query, k):
        answer, _ = source.get(f"{path}/risk{query}")
        top = risk(daily, k, trades, theirs.get("open_since"), market, tables["stress"])
        report.compare(block, sid, answer, {**top, "undefined": reasons(top)})

    report.compare("stats", sid, published, stats_at(1.0, account))
    report.compare("curve", sid, source.get(f"{path}/curve")[0], points(account.E.iloc[1:], "equity"))
    if source.keys is None:
        report.compare("rolling", sid, source.get(f"{path}/rolling")[0], rows(rolling(account, market)), digits=ROLLING)
    if source.keys is None or f"/v1{path}/risk" in source.keys:  # files of older programs have no such answer
        compare_risk("risk", "", 1.0)
    headline = ("cagr_pct", "max_drawdown_pct", "sharpe_daily_annualized", "profit_factor", "trade_count")
    report.compare("headline", sid, item["headline"], {name: published[name] for name in headline}, "headline")
    if leverage is not None:
        report.compare("headline", sid, item["leverage_typical"], Between(0, leverage), "leverage_typical")
    for level in levels if source.keys is None else []:
        block, query = f"at risk {level:g}", f"risk_pct={level!r}"
        answer, meta = source.get(f"{path}/stats?{query}")
        k = meta["effective_risk_pct"] / base
        account = Account(daily, weekly, k)
        top = {**stats_at(k, account), "fund_dd": published["fund_dd"]}
        report.compare(block, sid, answer, top)
        for period, values in (("", daily), ("period=weekly&", weekly)):
            report.compare(block, sid, source.get(f"{path}/returns?{period}{query}")[0], points(k * values, "ret"))
        report.compare(block, sid, source.get(f"{path}/curve?{query}")[0], points(account.E.iloc[1:], "equity"))
        compare_risk(block, f"?{query}", k)
        table = rows(rolling(account, market))
        report.compare(block, sid, source.get(f"{path}/rolling?{query}")[0], table, digits=ROLLING)


# The command


def print_report(report, source):
    for name, block in report.blocks.items():
        of = f"{len(block.of)} strateg{'y' if len(block.of) == 1 else 'ies'}" if "the book" not in block.of else "the book"
        verdict = f"{len(block.differences)} differ" if block.differences else "all equal"
        notes = [f"{block.ties} at a tie"] if block.ties else []
        notes += [f"{block.following} of them within what other published digits leave open"] if block.following else []
        print(f"{name:18} {of}, {block.values} values, {', '.join([verdict, *notes])}")
        for sid, path, published, expected in block.differences[:10]:
            print(f"    {sid} {path}: published {published}, recomputed {expected}")
        if len(block.differences) > 10:
            print(f"    and {len(block.differences) - 10} more")
    if source.keys is not None:
        print("not checked: rolling years and other risk levels, which a file server does not compute")
    for reason in dict.fromkeys(report.listed.values()):
        names = ", ".join(sorted(name for name, why in report.listed.items() if why == reason))
        print(f"not recomputable: {names}: {reason}")


def to_json(report, source):
    blocks = {
        name: {
            "values": block.values,
            "ties": block.ties,
            "following": block.following,
            "differences": [
                dict(zip(("of", "path", "published", "recomputed"), map(str, each))) for each in block.differences
            ],
        }
        for name, block in report.blocks.items()
    }
    return json.dumps({"version": source.version, "blocks": blocks, "not_recomputable": report.listed}, indent=1)


def positive(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


def main():
    parser = argparse.ArgumentParser(
        description="Recomputes every published figure of a Highwater history service that its open data determine.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("url", help="address of the service, or of a file server with the published files")
    parser.add_argument("--version", help="dataset version; the current one by default")
    parser.add_argument("--strategy", action="append", metavar="ID", help="only this strategy; may be repeated")
    parser.add_argument("--risk", action="append", type=positive, metavar="LEVEL",
                        help="a risk level beside the base, 0.01 = 1 %% of equity; may be repeated (default: 0.01 and 0.1)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    report = Report()
    try:
        source = Source(args.url, args.version)
        items = {item["id"]: item for item in source.get("/strategies")[0]}
        unknown = [sid for sid in args.strategy or [] if sid not in items]
        if unknown:
            raise Unusable(f"there is no strategy {unknown[0]} in {source.version}; there are {', '.join(items)}")
        tables = check_book(report, source)
        for sid in dict.fromkeys(args.strategy or items):
            check_strategy(report, source, items[sid], tables, args.risk or [0.01, 0.1])
    except Unusable as error:
        print(f"recompute.py: {error}", file=sys.stderr)
        return 2
    except (LookupError, TypeError, ValueError) as error:
        print(f"recompute.py: an answer does not have the documented form: {error!r}", file=sys.stderr)
        return 2
    if args.json:
        print(to_json(report, source))
    else:
        print_report(report, source)
    return 1 if any(block.differences for block in report.blocks.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
