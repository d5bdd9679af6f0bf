"""The figures of docs/figures.md of daily returns, in pandas: recompute.py compares them with the published ones.

Returns are a series of floats on a gapless DatetimeIndex of UTC days. A figure is a float, or a `Null` with the
reason why there is none.
"""

import math
from statistics import NormalDist

import pandas as pd

NEGLIGIBLE = 1e-12  # losses and ranges up to this are rounding errors
FEWEST = {365: 90, 52: 26, 12: 6}  # returns of which a figure of a year is made, by how many a year has
Z_95 = 1.6448536269514722  # the 95 % quantile of the standard normal distribution
DAY = pd.Timedelta(days=1)
NORMAL = NormalDist()


class Null(str):
    """A figure that is null, and the reason."""


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


def too_short(returns, periods):
    return len(returns) < FEWEST[periods], "too_few_points"


def sharpe(returns, periods):
    few = too_short(returns, periods)
    return figure(lambda: returns.mean() / returns.std() * math.sqrt(periods), few, (flat(returns), "zero_variance"))


def downside(returns):
    return math.sqrt((returns.clip(upper=0) ** 2).mean())


def sortino(returns, periods):
    few = too_short(returns, periods)
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
    year_of_days, logs = too_short(r, 365), E.iloc[1:].map(lambda x: math.log(x) if x > 0 else 0)
    time = pd.Series(range(n), index=logs.index, dtype=float)

    def tail(p, compute):
        return figure(lambda: 100 * compute(p), (n < 1 / p, "too_few_points"))

    return {
        "volatility_annualized_pct": figure(lambda: 100 * math.sqrt(365) * (0 if flat(r) else r.std()), one),
        "downside_deviation_annualized_pct": figure(lambda: 100 * math.sqrt(365) * downside(r), one),
        "sharpe_std_error": figure(lambda: math.sqrt(v / (n - 1) * 365), year_of_days, level),
        "probabilistic_sharpe_ratio": figure(lambda: NORMAL.cdf(ratio * math.sqrt((n - 1) / v)), four, level, no_v),
        "deflated_sharpe_ratio": figure(
            lambda: NORMAL.cdf((ratio - best_without_skill(trials) / math.sqrt(n - 1)) * math.sqrt((n - 1) / v)),
            (trials is None, "no_trials"),
            four,
            level,
            no_v,
        ),
        "min_track_record_days": figure(lambda: 1 + v * (Z_95 / ratio) ** 2, four, level, no_sharpe),
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
        "kelly_leverage": figure(lambda: mean / r.var(), year_of_days, level),
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


def complete_weeks(daily):
    """The compounded returns of the ISO weeks that have all seven days, dated by their Sunday."""
    weeks = (1 + daily).clip(lower=0).groupby(daily.index + pd.to_timedelta(6 - daily.index.dayofweek, unit="D"))
    return (weeks.prod() - 1)[weeks.size() == 7]
