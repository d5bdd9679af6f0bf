"""The figures that closed trades determine as they are published: of their results, their times and `return_pct`."""

import pandas as pd
from figures import FEWEST, figure, gains_over_losses, longest_run


def ledger(rows):
    columns = ["side", "entry_time", "exit_time", "duration_days", "return_pct", "result"]
    return pd.DataFrame(rows, columns=columns).sort_values(["exit_time", "entry_time"], kind="stable")


def results_by_side(trades):
    """The number of gains and losses on each side."""
    return {
        side: {word: int(((trades["side"] == side) & (trades["result"] == word)).sum()) for word in ("win", "loss")}
        for side in ("long", "short")
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
        "trades_per_year": figure(lambda: 365 * len(trades) / n_days, none, (n_days < FEWEST[365], "too_few_points")),
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
