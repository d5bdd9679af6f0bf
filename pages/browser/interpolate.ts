// What d3-scale needs of d3-interpolate for scales of numbers: the whole package interpolates colours, and is as large as all charts.

/** The same arithmetic as there, so that charts have the same digits at night and in the browser. */
export const interpolateNumber =
  (from: number, to: number) =>
  (at: number): number =>
    from * (1 - at) + to * at

export const interpolate = interpolateNumber

/** Imported by scales that no chart uses; they are not built. */
export const piecewise = interpolateNumber

export const interpolateRound =
  (from: number, to: number) =>
  (at: number): number =>
    Math.round(from * (1 - at) + to * at)
