import { type Files, lines } from './book-folder.ts'

/** A sound program of one bar, which the good book does not have. */
export const PROGRAM = `alias: accumulation
instrument: BTCUSDT-SPOT
window:
  from: 2020-01-01
  to: 2029-12-31
contribution_cadence_bars: 7
costs:
  fee_bps: 10
  slippage_bps: 5
`

export const BARS = lines('t,o,h,l,c,v', '2020-01-01T00:00:00Z,7200,7250,7190,7240,1000')

const SPOT: Files = { 'bars/BTCUSDT-SPOT/1d.csv': BARS }

/** The good book with a program in which one text is replaced by another. */
export const withProgram = (before = '', after = ''): Files => {
  if (!PROGRAM.includes(before)) throw new Error(`the program does not have ${before}`)
  return { ...SPOT, 'program.yaml': PROGRAM.replace(before, after) }
}

export const withLines = (...more: readonly string[]): Files => ({
  ...SPOT,
  'program.yaml': PROGRAM + lines(...more),
})
