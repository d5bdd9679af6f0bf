"""The figures of several strategies together: correlation, diversification and the equal-weight book."""

import itertools

import pandas as pd
from figures import NEGLIGIBLE, Account, performance, reasons


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
