import { type Figure, mapFigure, undefinedBecause } from './figure.ts'

/** A fraction as percent: 0.123 is 12.3 %. */
export const percent = (fraction: number): number => 100 * fraction

/** The same for a figure. */
export const percentFigure = (fraction: Figure): Figure => mapFigure(fraction, percent)

/** `count` of `total` as percent; undefined of nothing (`too_few_points`). */
export const share = (count: number, total: number): Figure =>
  total > 0 ? percent(count / total) : undefinedBecause('too_few_points')
