"""Processor seconds of numpy's corrcoef on one core, a line a round: corrcoef.py SERIES POINTS ROUNDS."""
import sys
import time

import numpy

series, points, rounds = map(int, sys.argv[1:])
returns = numpy.random.default_rng(1).normal(0, 0.01, (series, points))
for _ in range(rounds):
    start = time.process_time()
    numpy.corrcoef(returns)
    print(time.process_time() - start)
