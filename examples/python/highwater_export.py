"""Writes the result of a Python backtest as tables of a Highwater book. Standard library only.

    from highwater_export import write_ledger, write_returns

    write_ledger("book/ledgers/elm.csv", trades, capital=100_000)
    write_returns("book/returns/elm.csv", equity)

`trades` are mappings with side ("long" or "short"), entry_time, entry_price, quantity, pnl (net of all costs) and, once
closed, exit_time, exit_price and optionally exit_reason, fees (of both fills) and funding (negative if paid), in money;
rows of a pandas DataFrame work: `df.to_dict("records")`.
`equity` are pairs of time and account equity, ascending; `series.items()` of pandas works. Times are datetimes; one
without a zone is refused, because only its author knows what it means.

Called as a program it converts the trades and the equity of backtesting.py:

    python highwater_export.py trades.csv equity.csv --capital 100000 --id elm --book book
"""

import argparse
import csv
import gzip
import os
from datetime import datetime, timedelta, timezone

COLUMNS = "side entry_time entry_price exit_time exit_price exit_reason leverage stop account_return fees funding".split()
REASONS = ("stop", "signal", "time", "target", "liquidation")


def write_ledger(path, trades, capital):
    """Sizes each trade on the account at its entry, which is `capital` and what the trades before it earned.

    One position at a time: trades that overlap need the value of the open ones, so bring them with
    `highwater import ledger`, which knows the bars.
    """
    rows, equity, busy_until = [], float(capital), None
    for trade in sorted(trades, key=lambda trade: trade["entry_time"]):
        entry, leave = _utc(trade["entry_time"]), trade.get("exit_time")
        if busy_until is not None and entry < busy_until:
            raise ValueError(f"the trade of {entry:%Y-%m-%d %H:%M} enters before the one before it has ended")
        if equity <= 0:
            raise ValueError(f"nothing is left of the account at {entry:%Y-%m-%d %H:%M}")
        price, quantity = float(trade["entry_price"]), abs(float(trade["quantity"]))
        reason = trade.get("exit_reason") or "signal"
        if trade["side"] not in ("long", "short") or reason not in REASONS:
            raise ValueError(f"expected side long or short and a reason of {REASONS}, got {trade['side']}, {reason}")
        row = [trade["side"], _spell(entry), repr(price), "", "", "", repr(quantity * price / equity), "", "", "", ""]
        if leave is not None:
            pnl, busy_until = float(trade["pnl"]), _utc(leave)
            row[3:6] = [_spell(busy_until), repr(float(trade["exit_price"])), reason]
            row[8] = repr(pnl / equity)
            paid = [trade.get(cost) for cost in ("fees", "funding")]
            row[9:] = ["" if money is None else repr(float(money) / (quantity * price)) for money in paid]
            equity += pnl
        else:
            busy_until = datetime.max.replace(tzinfo=timezone.utc)
        rows.append(row)
    used = len(COLUMNS) if any(any(row[9:]) for row in rows) else 9
    _write(path, COLUMNS[:used], [row[:used] for row in rows])


def write_returns(path, equity):
    """Daily returns from the last equity of each UTC day. A day without any has the return 0."""
    closes = {}
    for moment, value in equity:
        closes[_utc(moment).date()] = float(value)
    days = sorted(closes)
    rows, before = [], closes[days[0]]
    for i in range(1, (days[-1] - days[0]).days + 1):
        day = days[0] + timedelta(days=i)
        close = closes.get(day, before)
        rows.append([day.isoformat(), repr(close / before - 1 if before > 0 else 0.0)])
        before = close
    _write(path, ["t", "ret"], rows)


def _utc(moment):
    if moment.tzinfo is None:
        raise ValueError(f"expected a time with a zone, got {moment}: use replace(tzinfo=timezone.utc) if it is UTC")
    return moment.astimezone(timezone.utc)


def _spell(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _write(path, header, rows):
    """A table is whole or not there: it is written beside its place and renamed."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".part", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    os.replace(path + ".part", path)


def _read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def _from_backtesting(row):
    size = float(row["Size"])
    at_stop = row["SL"] != "" and abs(float(row["SL"]) - float(row["ExitPrice"])) <= 1e-9 * float(row["ExitPrice"])
    return {
        "side": "long" if size > 0 else "short",
        "quantity": size,
        "entry_time": _parse(row["EntryTime"]),
        "entry_price": row["EntryPrice"],
        "exit_time": _parse(row["ExitTime"]),
        "exit_price": row["ExitPrice"],
        "exit_reason": "stop" if at_stop else "signal",
        "pnl": row["PnL"],
    }


def _parse(text):
    """backtesting.py prints the times of the bars that it was given; these are UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def main():
    parser = argparse.ArgumentParser(description="Writes trades and equity of backtesting.py into a book.")
    parser.add_argument("trades", help="stats['_trades'] as CSV")
    parser.add_argument("equity", help="stats['_equity_curve'] as CSV")
    parser.add_argument("--capital", type=float, required=True, help="the cash at the start")
    parser.add_argument("--id", required=True, help="the strategy of the catalogue")
    parser.add_argument("--book", required=True, help="the folder of the book")
    args = parser.parse_args()
    equity = _read(args.equity)
    time = next(iter(equity[0]))
    write_ledger(f"{args.book}/ledgers/{args.id}.csv", map(_from_backtesting, _read(args.trades)), args.capital)
    write_returns(f"{args.book}/returns/{args.id}.csv", ((_parse(row[time]), row["Equity"]) for row in equity))


if __name__ == "__main__":
    main()
