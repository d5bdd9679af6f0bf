"""The figures of docs/figures.md in pandas: of daily returns, of trades, and of the book. recompute.py compares them.

Returns are a series of floats on a gapless DatetimeIndex of UTC days. A figure is a float, or a `Null` with the
reason why there is none; a figure that only follows from published ones is the range that their digits leave.
"""

import itertools
import math
from dataclasses import dataclass
from statistics import NormalDist

import pandas as pd

NEGLIGIBLE = 1e-12  # losses and ranges up to this are rounding errors
DAY = pd.Timedelta(days=1)
NORMAL = NormalDist()
BENCHMARK = """net_return_pct cagr_pct max_drawdown_pct sharpe_daily_annualized volatility_annualized_pct
    excess_return_pct excess_cagr_pct beta alpha_annualized_pct correlation up_capture_pct down_capture_pct""".split()


class Null(str):
    """A figure that is null, and the reason."""


@dataclass(frozen=True)
class Between:
    """A figure that follows from published ones only to their precision."""

    low: float
    high: float


def between(formula, *published):
    """The range of a formula, monotonic in each argument, over all numbers that are published as these (6 decimals)."""
    corners = [formula(*each) for each in itertools.product(*((x - 5e-7, x, x + 5e-7) for x in published))]
    return Between(min(corners), max(corners))


def reasons(tree, path=""):
    """The nulls of a recomputed tree with their reasons, by path."""
    if isinstance(tree, dict):
        parts = (reasons(node, f"{path}/{name}".lstrip("/")) for name, node in tree.items())
        return {at: why for part in parts for at, why in part.items()}
    return {path: str(tree)} if isinstance(tree, Null) else {}


def figure(compute, *nulls):
    """The first reason whose condition holds, or else the computed value."""
    return next((Null(reason) for holds, reason in nulls if holds), None) or float(compute())


def flat(values):
    return len(values) == 0 or values.max() - values.min() <= NEGLIGIBLE


def longest_run(flags):
    return int(flags.groupby((~flags).cumsum()).sum().max()) if len(flags) else 0


def drawdowns_of(equity):
    """Of each day but the first point, which is a peak: how far it is under water, and exactly 0 if it is not."""
    peak = equity.cummax().shift(1)
    return (equity / peak - 1).where(equity < peak * (1 - NEGLIGIBLE), 0.0).iloc[1:]


class Account:
    """The path of daily returns at k times the base risk. E begins with 1 on the day before the first return."""

    def __init__(self, daily, weekly, k=1.0):
        self.r, self.w, self.k, self.n = daily, weekly, k, len(daily)
        before = daily.index[:1] - DAY if self.n else pd.DatetimeIndex(["1970-01-01"])
        growth = (1 + k * daily).clip(lower=0)
        self.E = pd.concat([pd.Series(1.0, index=before), growth]).cumprod()
        self.d = drawdowns_of(self.E)
        self.ruin = self.E.index[self.E == 0][0] if self.E.iloc[-1] == 0 else None

    def unless_ruined(self, block):
        return block if self.ruin is None else {name: Null("ruin") for name in block}

    def cagr(self):
        return figure(lambda: self.E.iloc[-1] ** (365 / self.n) - 1, (self.n < 365, "less_than_one_year"))

    def periods(self, unit):
        """Months or years up to that of the ruin: equity before and at the end, days, and whether all days are there."""
        days = self.E.index[1:] if self.ruin is None else self.E.index[1:][self.E.index[1:] <= self.ruin]
        last = self.E.iloc[1:].groupby(self.E.index[1:].to_period(unit))
        table = pd.DataFrame({"after": last.last(), "days": last.size()})
        table["before"] = table["after"].shift(1, fill_value=1.0)
        table = table[table.index.isin(days.to_period(unit))]
        table["partial"] = table["days"] < ((table.index + 1).start_time - table.index.start_time) / DAY
        table["ret"] = table["after"] / table["before"] - 1
        return table


def sharpe(returns, periods):
    few = (len(returns) < 2, "too_few_points")
    return figure(lambda: returns.mean() / returns.std() * math.sqrt(periods), few, (flat(returns), "zero_variance"))


def downside(returns):
    return math.sqrt((returns.clip(upper=0) ** 2).mean())


def sortino(returns, periods):
    few = (len(returns) < 2, "too_few_points")
    none = (len(returns) > 0 and downside(returns) <= NEGLIGIBLE, "no_losses")
    return figure(lambda: returns.mean() / downside(returns) * math.sqrt(periods), few, none)


def gains_over_losses(values, *nulls):
    losses = -values[values < 0].sum()
    return figure(lambda: values[values > 0].sum() / losses, *nulls, (losses <= NEGLIGIBLE, "no_losses"))


def date(day):
    return day.strftime("%Y-%m-%d")


def performance(a):
    return {
        "n_days": a.n,
        "n_weeks": len(a.w),
        "start": date(a.r.index[0]) if a.n else None,
        "end": date(a.r.index[-1]) if a.n else None,
        "ruined": a.ruin is not None,
        "ruin_t": None if a.ruin is None else date(a.ruin),
        "net_return_pct": 100 * (a.E.iloc[-1] - 1),
        "cagr_pct": percent(a.cagr()),
        "max_drawdown_pct": 100 * a.d.min() if a.n else 0,
        **a.unless_ruined(
            {
                "sharpe_daily_annualized": sharpe(a.r, 365),
                "sortino_daily_annualized": sortino(a.r, 365),
                "sharpe_weekly_annualized": sharpe(a.w, 52),
            }
        ),
        "time_underwater": {"longest_days": longest_run(a.d < 0), "total_days": int((a.d < 0).sum())},
    }


def percent(value):
    return value if isinstance(value, Null) else 100 * value


def risk_adjusted(a, trials):
    return {"trials": trials or Null("no_trials"), **a.unless_ruined(risk_and_shape(a, trials))}


def best_without_skill(trials):
    """The expected largest of so many standard normal values."""
    if trials == 1:
        return 0.0
    g = 0.5772156649015329
    return (g - 1) * NORMAL.inv_cdf(1 / trials) - g * NORMAL.inv_cdf(1 / (trials * math.e))


def risk_and_shape(a, trials):
    r, n, E, d = a.r, a.n, a.E, a.d
    months = a.periods("M").query("not partial")["ret"]
    deepest, ulcer = -min(d.min(), 0) if n else 0, math.sqrt((d**2).mean()) if n else 0
    none, one, four = (n < 1, "too_few_points"), (n < 2, "too_few_points"), (n < 4, "too_few_points")
    level, steady = (flat(r), "zero_variance"), (deepest == 0, "no_drawdown")
    pain, year = -months[months < 0].sum(), (n < 365, "less_than_one_year")
    mean, deviation = r.mean(), r - r.mean()
    m2, m3, m4 = ((deviation**power).mean() for power in (2, 3, 4))
    skewness = figure(lambda: m3 / m2**1.5, (n < 3, "too_few_points"), level)
    kurtosis = figure(lambda: m4 / m2**2 - 3, four, level)
    ratio = figure(lambda: mean / r.std(), four, level)
    known = not isinstance(ratio, Null)
    v = max(1 - skewness * ratio + (kurtosis + 2) / 4 * ratio**2, 0) if known else 0
    no_v, no_sharpe = (v <= NEGLIGIBLE, "zero_denominator"), (known and ratio <= NEGLIGIBLE, "non_positive_sharpe")
    z95, logs = NORMAL.inv_cdf(0.95), E.iloc[1:].map(lambda x: math.log(x) if x > 0 else 0)
    time = pd.Series(range(n), index=logs.index, dtype=float)

    def tail(p, compute):
        return figure(lambda: 100 * compute(p), (n < 1 / p, "too_few_points"))

    return {
        "volatility_annualized_pct": figure(lambda: 100 * math.sqrt(365) * (0 if flat(r) else r.std()), one),
        "downside_deviation_annualized_pct": figure(lambda: 100 * math.sqrt(365) * downside(r), one),
        "sharpe_std_error": figure(lambda: math.sqrt(v / (n - 1) * 365), four, level),
        "probabilistic_sharpe_ratio": figure(lambda: NORMAL.cdf(ratio * math.sqrt((n - 1) / v)), four, level, no_v),
        "deflated_sharpe_ratio": figure(
            lambda: NORMAL.cdf((ratio - best_without_skill(trials) / math.sqrt(n - 1)) * math.sqrt((n - 1) / v)),
            (trials is None, "no_trials"),
            four,
            level,
            no_v,
        ),
        "min_track_record_days": figure(lambda: 1 + v * (z95 / ratio) ** 2, four, level, no_sharpe),
        "sharpe_monthly_annualized": sharpe(months, 12),
        "sortino_weekly_annualized": sortino(a.w, 52),
        "calmar": figure(lambda: a.cagr() / deepest, year, steady),
        "recovery_factor": figure(lambda: (E.iloc[-1] - 1) / deepest, (deepest == 0 and n < 2, "too_few_points"), steady),
        "omega": gains_over_losses(r, (n < 2 and -r.sum() <= NEGLIGIBLE, "too_few_points")),
        "gain_to_pain_monthly": figure(
            lambda: months.sum() / pain, (months.empty, "too_few_points"), (pain <= NEGLIGIBLE, "no_losses")
        ),
        "ulcer_index_pct": figure(lambda: 100 * ulcer, none),
        "ulcer_performance_index": figure(lambda: a.cagr() / ulcer, year, (ulcer == 0, "no_drawdown")),
        "pain_index_pct": figure(lambda: -100 * d.mean(), none),
        "tail_ratio": figure(
            lambda: abs(r.quantile(0.95)) / abs(r.quantile(0.05)),
            (n < 20, "too_few_points"),
            (n >= 20 and abs(r.quantile(0.05)) <= NEGLIGIBLE, "zero_denominator"),
        ),
        "skewness_daily": skewness,
        "kurtosis_excess_daily": kurtosis,
        "var_95_daily_pct": tail(0.05, r.quantile),
        "cvar_95_daily_pct": tail(0.05, lambda p: tail_mean(r, p)),
        "var_99_daily_pct": tail(0.01, r.quantile),
        "cvar_99_daily_pct": tail(0.01, lambda p: tail_mean(r, p)),
        "best_day_pct": figure(lambda: 100 * r.max(), none),
        "worst_day_pct": figure(lambda: 100 * r.min(), none),
        "positive_days_pct": figure(lambda: 100 * (r > 0).mean(), none),
        "autocorrelation_lag1_daily": figure(
            lambda: r.autocorr(1),
            (n < 3, "too_few_points"),
            (flat(r.iloc[1:]) or flat(r.iloc[:-1]), "zero_variance"),
        ),
        "stability_r2": figure(
            lambda: logs.corr(time) ** 2, (n < 3, "too_few_points"), level, (flat(logs), "zero_variance")
        ),
        "kelly_leverage": figure(lambda: mean / r.var(), one, level),
    }


def tail_mean(values, p):
    return values.nsmallest(math.floor((len(values) - 1) / round(1 / p)) + 1).mean()


def drawdowns(a):
    n, d, under = a.n, a.d, a.d < 0
    runs = pd.DataFrame({"depth": d, "day": d.index, "run": (~under).cumsum()})[under].groupby("run")
    episodes = runs.agg(
        depth=("depth", "min"), first=("day", "first"), last=("day", "last"), days=("day", "size")
    )
    episodes["trough"] = runs["depth"].idxmin() if len(episodes) else None
    episodes["open"] = episodes["last"] == (a.r.index[-1] if n else None)
    lasting = episodes[episodes["days"] >= 2]
    few, still = (n < 2, "too_few_points"), int(episodes["days"][episodes["open"]].sum())
    return {
        "worst": [drawdown_row(row) for row in episodes.sort_values("depth", kind="stable").head(5).itertuples()],
        "count": len(episodes),
        "lasting_count": len(lasting),
        "current_drawdown_pct": 100 * d.iloc[-1] if n else 0,
        "current_underwater_days": still,
        "pct_time_underwater": figure(lambda: 100 * under.mean(), (n < 1, "too_few_points")),
        "longest_days": longest_run(under),
        "total_days": int(under.sum()),
        **a.unless_ruined(
            {
                "average_depth_pct": figure(lambda: 100 * lasting["depth"].mean(), few, (lasting.empty, "no_drawdown")),
                "average_underwater_days": figure(lambda: lasting["days"].mean(), few, (lasting.empty, "no_drawdown")),
                "cdar_95_pct": figure(lambda: 100 * tail_mean(d, 0.05), (n < 20, "too_few_points")),
                "cdar_99_pct": figure(lambda: 100 * tail_mean(d, 0.01), (n < 100, "too_few_points")),
                **{
                    f"worst_{days}d_return_pct": figure(
                        lambda days=days: 100 * (a.E / a.E.shift(days) - 1).min(), (n < days, "too_few_points")
                    )
                    for days in (7, 30, 90, 365)
                },
            }
        ),
    }


def drawdown_row(row):
    peak, recovery = row.first - DAY, None if row.open else row.last + DAY
    return {
        "peak_t": date(peak),
        "trough_t": date(row.trough),
        "recovery_t": None if recovery is None else date(recovery),
        "depth_pct": 100 * row.depth,
        "days_to_trough": (row.trough - peak).days,
        "days_to_recovery": None if recovery is None else (recovery - row.trough).days,
        "underwater_days": row.days,
    }


def period_statistics(values, one, many):
    none, up, down = (values.empty, "too_few_points"), values[values > 0], values[values < 0]
    return {
        f"best_{one}_pct": figure(lambda: 100 * values.max(), none),
        f"worst_{one}_pct": figure(lambda: 100 * values.min(), none),
        f"average_{one}_pct": figure(lambda: 100 * values.mean(), none),
        f"median_{one}_pct": figure(lambda: 100 * values.median(), none),
        "std_pct": figure(lambda: 100 * values.std(), (len(values) < 2, "too_few_points")),
        f"positive_{many}_pct": figure(lambda: 100 * (values > 0).mean(), none),
        f"average_up_{one}_pct": figure(lambda: 100 * up.mean(), none, (up.empty, "no_wins")),
        f"average_down_{one}_pct": figure(lambda: 100 * down.mean(), none, (down.empty, "no_losses")),
    }


def streaks(values, many):
    return {
        f"longest_up_streak_{many}": longest_run(values > 0),
        f"longest_down_streak_{many}": longest_run(values < 0),
    }


def monthly(a):
    table = a.periods("M")
    complete = table[~table["partial"]]
    statistics = period_statistics(complete["ret"], "month", "months")
    for count in (3, 12):
        rolling = (complete["after"] / complete["before"].shift(count - 1) - 1).dropna()
        of_runs = period_statistics(rolling, "run", "runs")
        for word in ("best", "worst"):
            statistics[f"{word}_rolling_{count}m_pct"] = of_runs[f"{word}_run_pct"]
        statistics[f"positive_rolling_{count}m_pct"] = of_runs["positive_runs_pct"]
    return {
        "table": [
            {"year": at.year, "month": at.month, "return_pct": 100 * row.ret, "partial": bool(row.partial)}
            for at, row in table.iterrows()
        ],
        "complete_count": len(complete),
        **streaks(complete["ret"], "months"),
        **a.unless_ruined(statistics),
    }


def annual(a, trades):
    table, months = a.periods("Y"), a.periods("M")
    complete = table["ret"][~table["partial"]]
    exits = pd.to_datetime(trades["exit_time"], unit="ms").dt.floor("D")
    exits = exits[exits.isin(a.r.index)].dt.year.value_counts()
    none = (a.n < 1, "too_few_points")

    def trailing(days):
        few, ruined = (a.n < days, "too_few_points"), (a.ruin is not None, "ruin")
        return figure(lambda: a.E.iloc[-1] / a.E.iloc[-1 - days] - 1, ruined, few)

    def row(at, year):
        r, is_defined = a.r[a.r.index.year == at.year], a.ruin is None and year.days > 1
        equity = a.E[date(at.start_time - DAY) : date(at.end_time)]
        ratio = sharpe(r, 365)
        return {
            "year": at.year,
            "return_pct": 100 * year.ret,
            "max_drawdown_pct": 100 * drawdowns_of(equity).min(),
            "sharpe": None if isinstance(ratio, Null) or not is_defined else ratio,
            "volatility_pct": 100 * math.sqrt(365) * (0 if flat(r) else r.std()) if is_defined else None,
            "trade_count": int(exits.get(at.year, 0)),
            "days": year.days,
            "partial": bool(year.partial),
        }

    three_years = trailing(1095)
    return {
        "table": [row(at, year) for at, year in table.iterrows()],
        "complete_count": len(complete),
        **streaks(complete, "years"),
        **a.unless_ruined(
            {
                **period_statistics(complete, "year", "years"),
                **{f"trailing_{days}d_return_pct": percent(trailing(days)) for days in (30, 90, 180, 365)},
                "trailing_1095d_cagr_pct": three_years
                if isinstance(three_years, Null)
                else 100 * ((1 + three_years) ** (1 / 3) - 1),
                "mtd_pct": figure(lambda: 100 * months["ret"].iloc[-1], none),
                "ytd_pct": figure(lambda: 100 * table["ret"].iloc[-1], none),
            }
        ),
    }


def trade_figures(trades, n_days):
    """What results and `return_pct` determine: who won, how long trades last, and profit per unit of notional."""
    wins, losses, hours = trades["result"] == "win", trades["result"] == "loss", holding_hours(trades)
    none = (trades.empty, "no_trades")
    return {
        **side_figures(trades),
        "wins": int(wins.sum()),
        "losses": int(losses.sum()),
        "breakeven": len(trades) - int(wins.sum()) - int(losses.sum()),
        "max_consecutive_wins": longest_run(wins),
        "max_consecutive_losses": longest_run(losses),
        "average_holding_hours": figure(hours.mean, none),
        "median_holding_hours": figure(hours.median, none),
        "max_holding_hours": figure(hours.max, none),
        "trades_per_year": figure(lambda: 365 * len(trades) / n_days, none, (n_days < 1, "too_few_points")),
        "long": side_figures(trades[trades["side"] == "long"]),
        "short": side_figures(trades[trades["side"] == "short"]),
    }


def holding_hours(trades):
    return (trades["exit_time"] - trades["entry_time"]) / 3_600_000


def side_figures(trades):
    none = (trades.empty, "no_trades")
    return {
        "count": len(trades),
        "win_rate_pct": figure(lambda: 100 * (trades["result"] == "win").mean(), none),
        "profit_factor_notional": gains_over_losses(trades["return_pct"], none),
    }


def equity_identities(t, base_risk):
    """What follows from the published figures on account equity that are not recomputed themselves."""
    n, wins, losses = t["count"], t["wins"], t["losses"]
    none, no_wins, no_losses = (n == 0, "no_trades"), (wins == 0, "no_wins"), (losses == 0, "no_losses")

    def follows(formula, names, *nulls):
        null = next((Null(reason) for holds, reason in nulls if holds), None)
        return null or between(formula, *(t[name] or 0.0 for name in names))

    win_and_loss, rate = ("average_win_pct", "average_loss_pct"), wins / n if n else 0
    is_flat = n > 1 and (t["std_trade_pct"] or 0) < 1e-6
    return {
        "profit_factor": follows(lambda win, loss: wins * win / -(losses * loss), win_and_loss, none, no_losses),
        "expectancy_pct": follows(lambda win, loss: (wins * win + losses * loss) / n, win_and_loss, none),
        "expectancy_r": follows(lambda mean: mean / 100 / base_risk, ["expectancy_pct"], none),
        "payoff_ratio": follows(lambda win, loss: win / -loss, win_and_loss, none, no_wins, no_losses),
        "kelly_fraction": follows(lambda pay: rate - (1 - rate) / pay, ["payoff_ratio"], none, no_wins, no_losses),
        "largest_loss_r": follows(lambda worst: worst / 100 / base_risk, ["worst_trade_pct"], none, no_losses),
        "sqn": follows(
            lambda mean, std: math.sqrt(n) * mean / std,
            ("expectancy_pct", "std_trade_pct"),
            none,
            (n == 1, "too_few_points"),
            (is_flat, "zero_variance"),
        ),
    }


def exposure(trades, daily):
    none = [(trades.empty, "no_trades"), (daily.empty, "too_few_points")]
    begin = daily.index[0].timestamp() * 1000 if len(daily) else 0
    window = 86_400_000 * len(daily)
    entry, exit = trades["entry_time"].clip(lower=begin), trades["exit_time"].clip(upper=begin + window)
    inside = pd.DataFrame({"side": trades["side"], "entry": entry, "exit": exit}).query("entry < exit")
    # At one instant exits come before entries.
    steps = pd.concat([pd.Series(-1, index=inside["exit"]), pd.Series(1, index=inside["entry"])])

    def share(some):
        """The time in which any is open: of each the part after the latest exit of those that entered before it."""
        some = some.sort_values("entry")
        covered = some["exit"].cummax().shift(1).fillna(begin)
        return 100 * (some["exit"] - some["entry"].clip(lower=covered)).clip(lower=0).sum() / window

    return {
        "active_days_pct": figure(lambda: 100 * (daily != 0).mean(), none[1]),
        "time_in_market_pct": figure(lambda: share(inside), *none),
        "long_time_pct": figure(lambda: share(inside[inside["side"] == "long"]), *none),
        "short_time_pct": figure(lambda: share(inside[inside["side"] == "short"]), *none),
        "average_concurrent_positions": figure(lambda: (inside["exit"] - inside["entry"]).sum() / window, *none),
        "max_concurrent_positions": figure(lambda: steps.sort_index(kind="stable").cumsum().max(), *none),
    }


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


def correlation(returns, fewest):
    """The matrix of all columns, NaN where it is undefined, and the common points of each pair."""
    alive = returns.notna().astype(int)
    overlap = alive.T @ alive
    windows = {name: (column.first_valid_index(), column.last_valid_index()) for name, column in returns.items()}
    inside = {window: returns.loc[slice(*window)] for window in set(windows.values()) if window[0] is not None}
    spans = {window: each.max() - each.min() for window, each in inside.items()}
    span = pd.DataFrame({name: spans.get(window, 0.0) for name, window in windows.items()}, index=returns.columns)
    return returns.corr().clip(-1, 1).where((overlap >= fewest) & (span > NEGLIGIBLE) & (span.T > NEGLIGIBLE)), overlap


def correlation_answer(matrix, overlap, fewest):
    ids, shown = list(matrix.columns), matrix.fillna(0.0)
    return {
        "ids": ids,
        "matrix": [[1 if a == b else shown.at[a, b] for b in ids] for a in ids],
        "undefined_pairs": [
            {
                "pair": [a, b],
                "overlap": int(overlap.at[a, b]),
                "reason": "too_few_points" if overlap.at[a, b] < fewest else "zero_variance",
            }
            for a, b in itertools.combinations(ids, 2)
            if pd.isna(matrix.at[a, b])
        ],
    }


def diversification(matrix, published):
    ids = list(matrix.columns)
    pairs = pd.Series({(a, b): matrix.at[a, b] for a, b in itertools.combinations(ids, 2)}, dtype=float).dropna()
    sound = sum(not pd.isna(matrix.at[name, name]) for name in ids)
    used = len({name for pair in pairs.index for name in pair}) if len(pairs) else sound
    mean = pairs.mean() if len(pairs) else 0.0

    def extreme(best, name):
        """Of pairs that are as good to 1e-12, the published one."""
        if pairs.empty:
            return None
        pair = tuple((published[name] or {}).get("pair", ()))
        chosen = pair if pair in pairs.index and abs(pairs[pair] - pairs[best]) <= 1e-12 else best
        return {"pair": list(chosen), "correlation": pairs[chosen]}

    return {
        "mean_correlation": mean,
        "most_correlated": extreme(pairs.idxmax() if len(pairs) else None, "most_correlated"),
        "least_correlated": extreme(pairs.idxmin() if len(pairs) else None, "least_correlated"),
        "effective_bets": 1 if len(ids) == 1 else used / (1 + (used - 1) * max(mean, 0)) if len(pairs) else used,
        "n_strategies_used": used,
        "coverage": {"pairs": len(ids) * (len(ids) - 1) // 2, "pairs_defined": len(pairs)},
    }


def equal_weight_book(returns):
    alive, book = returns.notna().sum(axis=1), returns.mean(axis=1).fillna(0.0)
    figures = performance(Account(book, book.iloc[:0]))
    names = ("n_days", "net_return_pct", "cagr_pct", "max_drawdown_pct", "sharpe_daily_annualized")
    shown = {name: figures[name] for name in names}
    coverage = {
        "from": figures["start"],
        "to": figures["end"],
        "fewest_strategies": int(alive.min()) if len(alive) else 0,
        "most_strategies": int(alive.max()) if len(alive) else 0,
        "days_with_all": int((alive == returns.shape[1]).sum()),
        "days_without_any": int((alive == 0).sum()),
    }
    return {**shown, "coverage": coverage, "undefined": reasons(shown)}


def complete_weeks(daily):
    """The compounded returns of the ISO weeks that have all seven days, dated by their Sunday."""
    weeks = (1 + daily).clip(lower=0).groupby(daily.index + pd.to_timedelta(6 - daily.index.dayofweek, unit="D"))
    return (weeks.prod() - 1)[weeks.size() == 7]


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


def since_publication(daily, since, version):
    """The days up to that of the first version with this history, and those that it could not know."""
    day = None if since is None else pd.Timestamp(since[:10])
    before, after = (daily, daily) if since is None else (daily[daily.index <= day], daily[daily.index > day])
    early, late = Account(before, before.iloc[:0]), Account(after, after.iloc[:0])
    unknown = None if since is not None else Null("not_published")
    no_later = unknown or (Null("not_published") if since == version else None)
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
    no_slope = isinstance(slope, Null)
    months, theirs = (each.periods("M").query("not partial")["ret"] for each in (a, held))

    def capture(chosen, reason):
        of = theirs[chosen].sum()
        few = (theirs.empty, "too_few_points")
        return figure(lambda: 100 * months[chosen].sum() / of, few, (abs(of) <= NEGLIGIBLE, reason))

    year = (a.n < 365, "less_than_one_year")
    is_flat = flat(a.r) or flat(b)
    compared = {
        "beta": slope,
        "alpha_annualized_pct": slope if no_slope else 36500 * (a.r.mean() - slope * b.mean()),
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
