"""Daily returns beside others: holding the instrument, before and after publication, and year by rolling year."""

import math

import pandas as pd
from figures import DAY, NEGLIGIBLE, Account, Null, figure, flat, percent, sharpe, too_short

BENCHMARK = """net_return_pct cagr_pct max_drawdown_pct sharpe_daily_annualized volatility_annualized_pct
    excess_return_pct excess_cagr_pct beta alpha_annualized_pct correlation up_capture_pct down_capture_pct""".split()


def holding(a):
    """What is shown of a benchmark, and of a part of a history."""
    deviation, none = 0 if flat(a.r) else a.r.std(), (a.n < 1, "too_few_points")
    ratios = {
        "sharpe_daily_annualized": sharpe(a.r, 365),
        "volatility_annualized_pct": figure(lambda: 100 * math.sqrt(365) * deviation, (a.n < 2, "too_few_points")),
    }
    return {
        "net_return_pct": figure(lambda: 100 * (a.E.iloc[-1] - 1), none),
        "cagr_pct": percent(a.cagr()),
        "max_drawdown_pct": figure(lambda: 100 * a.d.min(), none),
        **a.unless_ruined(ratios),
    }


def since_publication(daily, since, entered):
    """The days up to that on which the first version with this history was entered, and those that it could not know."""
    day = None if since is None else pd.Timestamp(since[:10])
    before, after = (daily, daily) if since is None else (daily[daily.index <= day], daily[daily.index > day])
    early, late = Account(before, before.iloc[:0]), Account(after, after.iloc[:0])
    unknown = None if since is not None else Null("not_published")
    no_later = unknown or (Null("not_published") if since == entered else None)
    no_later = no_later or (None if early.ruin is None else Null("ruin"))
    return {
        "published_since": since,
        "days_before": unknown or early.n,
        "days_after": unknown or late.n,
        "before": {name: unknown or value for name, value in holding(early).items()},
        "after": {name: no_later or value for name, value in holding(late).items()},
    }


def benchmark(a, returns):
    """The account beside holding its instrument, of which the daily returns are given, or None."""
    b = None if returns is None else returns.reindex(a.r.index)
    if b is None or b.empty or b.isna().any():
        return {name: Null("no_benchmark") for name in BENCHMARK}
    held, few, level = Account(b, b.iloc[:0]), (a.n < 2, "too_few_points"), (flat(b), "zero_variance")
    slope = figure(lambda: a.r.cov(b) / b.var(), few, level)
    months, theirs = (each.periods("M").query("not partial")["ret"] for each in (a, held))

    def capture(chosen, reason):
        of = theirs[chosen].sum()
        few = (theirs.empty, "too_few_points")
        return figure(lambda: 100 * months[chosen].sum() / of, few, (abs(of) <= NEGLIGIBLE, reason))

    year = (a.n < 365, "less_than_one_year")
    is_flat = flat(a.r) or flat(b)
    compared = {
        "beta": slope,
        "alpha_annualized_pct": figure(lambda: 36500 * (a.r.mean() - slope * b.mean()), too_short(a.r, 365), level),
        "correlation": figure(lambda: a.r.corr(b), (a.n < 30, "too_few_points"), (is_flat, "zero_variance")),
    }
    if a.ruin is None and held.ruin is None:
        compared["up_capture_pct"] = capture(theirs > 0, "no_wins")
        compared["down_capture_pct"] = capture(theirs < 0, "no_losses")
    else:
        compared = {name: Null("ruin") for name in (*compared, "up_capture_pct", "down_capture_pct")}
    return {
        **holding(held),
        "excess_return_pct": 100 * (a.E.iloc[-1] - held.E.iloc[-1]),
        "excess_cagr_pct": figure(lambda: 100 * (a.cagr() - held.cagr()), year),
        **compared,
    }


def rolling(a, returns):
    """The 365 days up to and including each day from the 365th on; NaN where a figure is undefined."""
    ends, E = a.r.index[364:], a.E.to_numpy()
    before = pd.Series(E[: len(ends)], index=ends)
    living = ends < (a.ruin if a.ruin is not None else ends.max() + DAY) if len(ends) else []
    r = pd.DataFrame({i: a.r.shift(i) for i in range(365)}).loc[ends] if len(ends) else pd.DataFrame()
    b = None if returns is None else returns.reindex(a.r.index)
    table = pd.DataFrame(index=ends, columns=["return_pct", "volatility_pct", "sharpe", "beta"], dtype=float)
    if len(ends) == 0:
        return table
    table["return_pct"] = (100 * (pd.Series(E[365:], index=ends) / before - 1)).where(before > 0)
    wide = r.max(axis=1) - r.min(axis=1) > NEGLIGIBLE
    deviation = r.std(axis=1).where(wide, 0.0)
    table["volatility_pct"] = (100 * a.k * deviation * math.sqrt(365)).where(living)
    table["sharpe"] = (r.mean(axis=1) / deviation * math.sqrt(365)).where(living & wide)
    if b is not None and not b.isna().any():
        market = pd.DataFrame({i: b.shift(i) for i in range(365)}).loc[ends]
        off = market.sub(market.mean(axis=1), axis=0)
        slope = (r.sub(r.mean(axis=1), axis=0) * off).sum(axis=1) / (off**2).sum(axis=1)
        table["beta"] = (a.k * slope).where(living & (market.max(axis=1) - market.min(axis=1) > NEGLIGIBLE))
    return table
