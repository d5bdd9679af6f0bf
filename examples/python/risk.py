"""The answer of /v1/strategies/{sid}/risk, in numpy, as docs/figures.md defines it: recompute.py compares it with the published one."""

import math

import numpy as np
import pandas as pd
from figures import DAY, Null, date, drawdowns_of

DRAWS, YEAR, BLOCK, SEED = 2000, 365, 30, 2463534242
FALLS = ("Deepest", "Second", "Third", "Fourth", "Fifth")


def growth_of(daily, k=1.0):
    return np.maximum(1 + k * daily.to_numpy(), 0)


def starts(n):
    """The first day of each block, year by year."""
    x = SEED
    for _ in range(DRAWS * math.ceil(YEAR / BLOCK)):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        yield x * n >> 32


def deepest(E):
    """The deepest fall of each row; the 1 before it is a peak."""
    return np.minimum(E / np.maximum(np.maximum.accumulate(E, axis=-1), 1) - 1, 0).min(axis=-1)


def year_ahead(daily, k):
    n = len(daily)
    how = {"n_days": n, "draws": DRAWS, "year_days": YEAR, "block_days": BLOCK, "generator": "xorshift32", "seed": SEED}
    names = [f"{of}_p{p}_pct" for of in ("return", "max_drawdown") for p in (5, 25, 50, 75, 95)]
    names += [f"loss_{loss}_probability_pct" for loss in (10, 20, 50)] + ["below_start_probability_pct"]
    if n < YEAR:
        return {**how, **{name: Null("less_than_one_year") for name in names}}
    first = np.fromiter(starts(n), dtype=np.int64).reshape(DRAWS, -1)
    days = (first[:, :, None] + np.arange(BLOCK)).reshape(DRAWS, -1)[:, :YEAR] % n
    E = growth_of(daily, k)[days].cumprod(axis=1)
    spread = [np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]) for values in (E[:, -1] - 1, deepest(E))]
    shares = [(E.min(axis=1) <= part).mean() for part in (0.9, 0.8, 0.5)] + [(E[:, -1] < 1).mean()]
    return {**how, **dict(zip(names, 100 * np.concatenate([*spread, shares]), strict=True))}


def result(daily, k=1.0):
    E = growth_of(daily, k).cumprod()
    return {"net_return_pct": 100 * (E[-1] - 1), "max_drawdown_pct": 100 * deepest(E)}


def months_of(daily):
    return [part for _, part in daily.groupby(daily.index.to_period("M"))]


def start_dates(daily, k):
    def row(day):
        part = daily[day:]
        n, figures = len(part), result(part, k)
        cagr = 100 * ((1 + figures["net_return_pct"] / 100) ** (365 / n) - 1) if n >= 365 else None
        return {"t": date(day), "days": n, **figures, "cagr_pct": cagr}

    return [row(month.index[0]) for month in months_of(daily)]


def bins_of(values):
    for power in range(-4, 400):
        for digit in (1, 2, 5):
            width = float(f"{digit}e{power}")
            low, high = math.floor(values.min() / width) - 1, math.floor(values.max() / width) + 2
            if high - low > 50:
                continue
            borders = [float(f"{i * digit}e{power}") for i in range(low, high + 1)]
            counts = [int(((values >= a) & (values < b)).sum()) for a, b in zip(borders, borders[1:])]
            held = np.flatnonzero(counts)
            if held[-1] - held[0] < 40:
                rows = zip(borders, borders[1:], counts)
                bins = [{"from_pct": a, "to_pct": b, "days": n} for a, b, n in rows][held[0] : held[-1] + 1]
                return {"bin_width_pct": width, "bins": bins}


def days(daily, k):
    lived = growth_of(daily, k).cumprod() > 0
    values = 100 * (k * daily)
    if not lived.all():  # ruin is the last day
        values = pd.concat([values[lived], pd.Series(-100.0, index=values.index[~lived][:1])])
    moved = values[values != 0]
    ranked = moved.sort_values(kind="stable"), (-moved).sort_values(kind="stable")
    worst, best = ranked[0][ranked[0] < 0], -ranked[1][ranked[1] < 0]
    none = {"bin_width_pct": Null("too_few_points"), "bins": []}
    return {
        "gain_days": len(best),
        "loss_days": len(worst),
        "flat_days": len(values) - len(moved),
        **(bins_of(moved.to_numpy()) if len(moved) else none),
        "best": [{"t": date(day), "return_pct": value} for day, value in best.head(5).items()],
        "worst": [{"t": date(day), "return_pct": value} for day, value in worst.head(5).items()],
    }


def exposure(daily, trades, open_since):
    """Minute by minute would do as well: the borders of trades cut a month into parts, each with its state."""
    if trades.empty and open_since is None:
        return {"months": Null("no_trades")}

    def row(month):
        begin, end = (each.timestamp() * 1000 for each in (month.index[0], month.index[-1] + DAY))
        is_open = open_since is not None and pd.Timestamp(open_since) <= month.index[-1]
        inside = trades[(trades["entry_time"] < end) & (trades["exit_time"] > begin)]
        times = [begin, end, *inside["entry_time"], *inside["exit_time"]]
        cuts = np.unique(np.clip(times, begin, end))

        def share(some):
            held = [((some["entry_time"] <= at) & (some["exit_time"] > at)).any() for at in cuts[:-1]]
            return 100 * (np.diff(cuts) * held).sum() / (end - begin)

        shares = {
            "long_pct": share(inside[inside["side"] == "long"]),
            "short_pct": share(inside[inside["side"] == "short"]),
            "flat_pct": 100 - share(inside),
        }
        known = {name: None if is_open else value for name, value in shares.items()}
        return {"year": month.index[0].year, "month": month.index[0].month, **known, "has_open_position": is_open}

    return {"months": [row(month) for month in months_of(daily)]}


def falls_of(market):
    """The days from after the peak to the trough of the five deepest drawdowns."""
    d = drawdowns_of(pd.concat([pd.Series(1.0, index=market.index[:1] - DAY), 1 + market.clip(lower=-1)]).cumprod())
    runs = [run for _, run in d[d < 0].groupby((d >= 0).cumsum()[d < 0])]
    return [(run.index[0], run.idxmin()) for run in sorted(runs, key=lambda run: run.min())[:5]]


def stress(daily, k, market, named):
    held = None if market is None else market.dropna()
    over = None if held is None else held[held.index.isin(daily.index)]
    falls = None if over is None or len(over) < len(daily) else falls_of(over)
    periods = [(f"{FALLS[i]} fall of the instrument", *fall, "instrument") for i, fall in enumerate(falls or [])]
    periods += [(p["name"], pd.Timestamp(p["from"]), pd.Timestamp(p["to"]), "publisher") for p in named]

    def row(name, first, last, by):
        n, own = (last - first) // DAY + 1, daily[first:last]
        its = None if held is None else held[first:last]
        nothing = {"net_return_pct": None, "max_drawdown_pct": None}
        figures = result(own, k) if len(own) == n else nothing
        return {
            **{"name": name, "from": date(first), "to": date(last), "by": by, "days": n, "days_covered": len(own)},
            **{"return_pct": figures["net_return_pct"], "max_drawdown_pct": figures["max_drawdown_pct"]},
            "instrument_return_pct": None if its is None or len(its) < n else result(its)["net_return_pct"],
        }

    count = Null("no_benchmark") if falls is None else len(falls)
    return {"instrument_falls": count, "rows": [row(*period) for period in periods]}


def risk(daily, k, trades, open_since, market, named):
    return {
        "year_ahead": year_ahead(daily, k),
        "start_dates": start_dates(daily, k),
        "days": days(daily, k),
        "exposure": exposure(daily, trades, open_since),
        "stress": stress(daily, k, market, named),
    }
