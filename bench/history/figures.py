"""The figures of daily returns with pandas, after the formulas of empyrical: figures.py FILE SERIES POINTS ROUNDS.

FILE holds the series end to end as doubles; the first day of each is 2016-07-01. Prints the processor seconds of each round
for all series, a line each, and then the figures of every series, a line each, in the order of figures.ts.
"""
import sys
import time

import numpy
import pandas

YEAR = 365


def figures(returns):
    count = len(returns)
    mean, deviation = returns.mean(), returns.std(ddof=1)
    downside = numpy.sqrt((numpy.minimum(returns, 0) ** 2).mean())
    growth = 1 + returns
    curve = numpy.concatenate([[1.0], growth.cumprod()])
    peaks = numpy.maximum.accumulate(curve)
    depth = (curve / peaks - 1).min()
    cagr = curve[-1] ** (YEAR / count) - 1
    low, high = numpy.percentile(returns, 5), numpy.percentile(returns, 95)
    tail = int((count - 1) * 0.05) + 1
    centred = returns - mean
    variance = (centred**2).mean()
    months = growth.groupby([returns.index.year, returns.index.month]).prod() - 1
    years = growth.groupby(returns.index.year).prod() - 1
    return [
        curve[-1] - 1,
        cagr,
        deviation * numpy.sqrt(YEAR),
        mean / deviation * numpy.sqrt(YEAR),
        mean / downside * numpy.sqrt(YEAR),
        downside * numpy.sqrt(YEAR),
        depth,
        cagr / -depth,
        returns[returns > 0].sum() / -returns[returns < 0].sum(),
        abs(high) / abs(low),
        low,
        numpy.partition(returns.to_numpy(), tail)[:tail].mean(),
        (centred**3).mean() / variance**1.5,
        (centred**4).mean() / variance**2 - 3,
        returns.max(),
        returns.min(),
        (returns > 0).mean(),
        *months,
        *years,
    ]


path, series, points, rounds = sys.argv[1], *map(int, sys.argv[2:])
days = pandas.date_range("2016-07-01", periods=points, freq="D")
rows = numpy.fromfile(path).reshape(series, points)
columns = [pandas.Series(row, index=days) for row in rows]
for _ in range(int(rounds)):
    start = time.process_time()
    results = [figures(column) for column in columns]
    print(time.process_time() - start)
for each in results:
    print(*map(repr, map(float, each)), sep="\n")
