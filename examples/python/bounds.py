"""What open data do not determine, and what of it follows from the published figures beside it.

/trades has no leverage, which can be estimated from returns and prices, but not to its digits; a night has bars and
modules. What needs these is listed here, and is the range that other published figures leave, to their digits. The ranges of some
are wide: an altered figure is noticed only if it contradicts another.
"""

import itertools
import math
from dataclasses import dataclass

from figures import FEWEST, Null

ON_EQUITY = "needs the leverage of the trades"
BARS = "needs bars and the leverage of the trades"
MODULE = "needs the module of the strategy"
DECLARED = "the operator declares it"
NOT_RECOMPUTABLE = {
    "leverage_typical": ON_EQUITY,
    "leverage_max": ON_EQUITY,
    "refused_above_risk_pct": ON_EQUITY,
    "profit_factor": ON_EQUITY,
    "headline/profit_factor": ON_EQUITY,
    "fund_dd/trades/profit_factor": ON_EQUITY,
    "fund_dd/trades/expectancy_pct": ON_EQUITY,
    "fund_dd/trades/expectancy_r": ON_EQUITY,
    "fund_dd/trades/median_trade_pct": ON_EQUITY,
    "fund_dd/trades/std_trade_pct": ON_EQUITY,
    "fund_dd/trades/average_win_pct": ON_EQUITY,
    "fund_dd/trades/average_loss_pct": ON_EQUITY,
    "fund_dd/trades/payoff_ratio": ON_EQUITY,
    "fund_dd/trades/best_trade_pct": ON_EQUITY,
    "fund_dd/trades/worst_trade_pct": ON_EQUITY,
    "fund_dd/trades/largest_loss_r": ON_EQUITY,
    "fund_dd/trades/sqn": ON_EQUITY,
    "fund_dd/trades/kelly_fraction": ON_EQUITY,
    "fund_dd/trades/top5_wins_share_of_gross_profit_pct": ON_EQUITY,
    "fund_dd/trades/long/profit_factor": ON_EQUITY,
    "fund_dd/trades/short/profit_factor": ON_EQUITY,
    "fund_dd/risk_adjusted/trials": DECLARED,
    "fund_dd/costs": BARS,
    "fund_dd/excursions": BARS,
    "fund_dd/replays/entries_asked": MODULE,
    "fund_dd/replays/entries_refused": MODULE,
    "fund_dd/replays/table/replayed": MODULE,
}
SLACK = 2e-6  # of a bound that is made of published numbers


@dataclass(frozen=True)
class Between:
    """A figure that follows from published ones only to their precision."""

    low: float
    high: float


def between(formula, *published):
    """The range of a formula, monotonic in each argument, over all numbers that are published as these (6 decimals)."""
    corners = [formula(*each) for each in itertools.product(*((x - 5e-7, x, x + 5e-7) for x in published))]
    return Between(min(corners), max(corners))


def listed(path):
    """The field or group of the list that a field is of, or None."""
    parts = [part for part in path.split("/") if not part.isdigit()]  # rows of tables
    return next((name for i in range(len(parts)) if (name := "/".join(parts[: i + 1])) in NOT_RECOMPUTABLE), None)


def within(low, high=math.inf):
    return Between(low - SLACK, high + SLACK)


ANY = Between(-math.inf, math.inf)


def first_of(nulls, otherwise):
    """The first reason whose condition holds, or else what is computed."""
    return next((Null(reason) for holds, reason in nulls if holds), None) or otherwise()


def trades_on_equity(t, sides, base_risk, n_days):
    """The figures of trades on account equity, from each other and from the number of gains and losses on each side."""
    n, wins, losses = t["count"], t["wins"], t["losses"]
    none, no_wins, no_losses = (n == 0, "no_trades"), (wins == 0, "no_wins"), (losses == 0, "no_losses")
    win, loss, best, worst, mean = (
        t[name] or 0.0
        for name in ("average_win_pct", "average_loss_pct", "best_trade_pct", "worst_trade_pct", "expectancy_pct")
    )

    def follows(formula, names, *nulls):
        return first_of(nulls, lambda: between(formula, *(t[name] or 0.0 for name in names)))

    def range_of(low, high, *nulls):
        return first_of(nulls, lambda: within(low(), high()))

    def of_side(name, other):
        """Of both sides together it is between those of the two."""
        whole, theirs = t["profit_factor"], t[other]["profit_factor"]
        null = [(t[name]["count"] == 0, "no_trades"), (sides[name]["loss"] == 0, "no_losses")]
        if t[other]["count"] == 0:
            return first_of(null, lambda: within(whole, whole))
        low = whole if theirs is not None and theirs < whole else 0
        high = whole if sides[other]["win"] and (theirs is None or theirs > whole) else math.inf
        return first_of(null, lambda: within(low, high if sides[name]["win"] else 0))

    def spread():
        return math.sqrt(((best - mean) ** 2 + (worst - mean) ** 2) / (n - 1))

    is_flat = n > 1 and (t["std_trade_pct"] or 0) < 1e-6
    middle = 2 * max(wins, losses) > n
    return {
        "profit_factor": follows(
            lambda win, loss: wins * win / -(losses * loss), ["average_win_pct", "average_loss_pct"], none, no_losses
        ),
        "expectancy_pct": follows(
            lambda win, loss: (wins * win + losses * loss) / n, ["average_win_pct", "average_loss_pct"], none
        ),
        "expectancy_r": follows(lambda mean: mean / 100 / base_risk, ["expectancy_pct"], none),
        "payoff_ratio": follows(
            lambda win, loss: win / -loss, ["average_win_pct", "average_loss_pct"], none, no_wins, no_losses
        ),
        "kelly_fraction": follows(
            lambda pay: wins / n - (1 - wins / n) / pay,
            ["payoff_ratio"],
            none,
            no_wins,
            no_losses,
            (n_days < FEWEST[365], "too_few_points"),
        ),
        "largest_loss_r": follows(lambda worst: worst / 100 / base_risk, ["worst_trade_pct"], none, no_losses),
        "sqn": follows(
            lambda mean, std: math.sqrt(n) * mean / std,
            ["expectancy_pct", "std_trade_pct"],
            none,
            (n == 1, "too_few_points"),
            (is_flat, "zero_variance"),
        ),
        "average_win_pct": range_of(lambda: best / wins, lambda: best, none, no_wins),
        "average_loss_pct": range_of(lambda: worst, lambda: worst / losses, none, no_losses),
        "best_trade_pct": range_of(lambda: win if wins else loss, lambda: wins * win, none),
        "worst_trade_pct": range_of(lambda: losses * loss, lambda: loss if losses else win, none),
        "median_trade_pct": range_of(
            lambda: 0 if middle and wins > losses else worst, lambda: 0 if middle and losses > wins else best, none
        ),
        "std_trade_pct": range_of(
            spread, lambda: (best - worst) / 2 * math.sqrt(n / (n - 1)), none, (n == 1, "too_few_points")
        ),
        "top5_wins_share_of_gross_profit_pct": range_of(
            lambda: min(500 / wins, 100), lambda: 100 if wins <= 5 else min(100, 500 * best / (wins * win)), none, no_wins
        ),
        "long": {"profit_factor": of_side("long", "short")},
        "short": {"profit_factor": of_side("short", "long")},
    }


def headline_of(published, n):
    """The headline of n days that are not published: from the net return alone."""
    net, sharpe = published["net_return_pct"], published["sharpe_daily_annualized"]
    few = [(net == -100, "ruin"), (n < FEWEST[365], "too_few_points"), (sharpe is None, "zero_variance")]
    return {
        "net_return_pct": Between(-100, math.inf),
        "cagr_pct": first_of(
            [(n < 365, "less_than_one_year")],
            lambda: between(lambda net: 100 * (max(1 + net / 100, 0) ** (365 / n) - 1), net),
        ),
        "max_drawdown_pct": within(-100, min(net, 0)),
        "sharpe_daily_annualized": first_of(few, lambda: ANY),
    }


def costs(published, trades, n, why):
    """The costs of closed trades; `why` is the published reason if all of it is null."""
    shares = ["fees_pct_of_gross_profit", "slippage_pct_of_gross_profit", "funding_pct_of_gross_profit"]
    twice = published["at_twice_the_costs"]
    if why == "unknown_leverage":
        return {**dict.fromkeys(shares, Null(why)), "at_twice_the_costs": dict.fromkeys(twice, Null(why))}
    no_profit = published["fees_pct_of_gross_profit"] is None
    null = [(trades["count"] == 0, "no_trades"), (no_profit, "no_wins")]
    lows = dict(zip(shares, (0, 0, -math.inf)))
    return {
        **{name: first_of(null, lambda low=low: Between(low, math.inf)) for name, low in lows.items()},
        "at_twice_the_costs": headline_of(twice, n),
    }


def excursions(published, trades, why):
    """Quantiles ascend; the prices of entry and exit count, so nothing adverse is above 0, nor favourable below."""
    null = [(why == "unknown_leverage", why), (trades["count"] < 20, "too_few_points")]

    def distribution(quantiles, low, high):
        ends = [low, *(quantiles[name] for name in QUANTILES), high]
        ranges = {
            name: first_of(null, lambda i=i: within(ends[i], ends[i + 2])) for i, name in enumerate(QUANTILES)
        }
        return {"mean": first_of(null, lambda: Between(low, high)), **ranges}

    return {
        "mae_r": distribution(published["mae_r"], -math.inf, 0),
        "mfe_r": distribution(published["mfe_r"], 0, math.inf),
    }


QUANTILES = ["p5", "p25", "p50", "p75", "p95"]


def entries(published, trade_count):
    """Every closed trade was an entry that was asked for, and not refused."""
    asked, refused = published["entries_asked"], published["entries_refused"]
    return {
        "entries_asked": Between(trade_count + refused, math.inf),
        "entries_refused": Between(0, asked - trade_count),
    }


def replays(published, stats, base_risk, rescaled_at):
    """The entries of a module, and its replays; the one at base risk, if there is one, is what is published."""
    is_module = published["entries_asked"] is not None

    def row(each):
        own, is_base = each["replayed"], each["risk_pct"] == base_risk
        due = {**headline_of(own, stats["n_days"]), "trade_count": Between(0, math.inf), **entries(own, own["trade_count"])}
        same = {name: stats[name] for name in own if name in stats}
        return {
            "risk_pct": each["risk_pct"],
            "replayed": {**due, **same, **published_entries(published)} if is_base else due,
            "rescaled": rescaled_at(each["risk_pct"]),
        }

    own = entries(published, stats["trade_count"]) if is_module else {}
    return {
        **{name: own.get(name, Null("no_module")) for name in ("entries_asked", "entries_refused")},
        "table": [row(each) for each in published["table"]],
    }


def published_entries(published):
    return {name: published[name] for name in ("entries_asked", "entries_refused")}


def refused_above(published, item, replays):
    """Above base risk if the cap refused no entry at it, else not; as the catalogue has a leverage."""
    if published is None:
        return None if item["leverage_max"] is None or item["basis"] == "reported" else ANY
    base, refused = item["base_risk_pct"], replays["entries_refused"]
    return Between(0, math.inf) if refused is None else Between(0, base) if refused else Between(base, math.inf)


def exposure_with_open(published, closed):
    """The range of each figure if a position is open at the end, which is not in /trades: of the same length in all."""
    closed = {name: 0.0 if isinstance(value, Null) else value for name, value in closed.items()}
    average, most = published["average_concurrent_positions"], published["max_concurrent_positions"]
    extra = 100 * (average + 5e-7 - closed["average_concurrent_positions"])
    ranges = {name: Between(closed[name], closed[name] + extra) for name in closed if name.endswith("_time_pct")}
    if most <= 1:  # no two at a time: then the times add up
        in_market = between(lambda mean: 100 * mean, average)
        either = between(lambda long, short: long + short, published["long_time_pct"], published["short_time_pct"])
        in_market = Between(max(in_market.low, either.low), min(in_market.high, either.high))
    else:
        in_market = Between(closed["time_in_market_pct"], closed["time_in_market_pct"] + extra)
    return {
        "active_days_pct": closed["active_days_pct"],
        "time_in_market_pct": in_market,
        **ranges,
        "average_concurrent_positions": Between(closed["average_concurrent_positions"], most),
        "max_concurrent_positions": Between(closed["max_concurrent_positions"], math.inf),
    }
