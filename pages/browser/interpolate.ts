// What d3-scale needs of d3-interpolate for scales of numbers: the whole package interpolates colours, and is as large as all charts.

/** The same arithmetic as there, so that charts have the same digits at night and in the browser. */
const interpolateNumber =
  (from: number, to: number) =>
  (at: number): number =>
    from * (1 - at) + to * at

/** The last two are of scales that no chart uses. */
export {
  interpolateNumber,
  interpolateNumber as interpolate,
  interpolateNumber as interpolateRound,
  interpolateNumber as piecewise,
}
