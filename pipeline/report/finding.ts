/** Findings in a record as a whole, which is known when it has been computed. */
export const RECORD_FINDINGS = [
  'perfect_fills',
  'no_losses',
  'no_drawdown',
  'high_sharpe',
  'base_risk',
  'result_sign',
  'returns_differ',
] as const
export type RecordFinding = (typeof RECORD_FINDINGS)[number]

export const isOfRecord = ({ finding }: { readonly finding: string }): boolean =>
  RECORD_FINDINGS.some(code => code === finding)

/** Findings that the catalogue may accept with a reason. */
export const ACCEPTABLE = [
  'gap',
  'gaps',
  'spike',
  'jump',
  'flat_run',
  'zero_volume',
  'copied_bars',
  'straight_line',
  'no_wicks',
  'shifted_labels',
  'duplicate_trades',
  'percent_returns',
  'level_returns',
  'live_gap',
  ...RECORD_FINDINGS,
] as const

/** `blocking` ends a build, `serious` unless the catalogue accepts it; a `note` is printed. `fix` is what to do, or null. */
export type Verdict = { readonly fix: string | null } & (
  | { readonly severity: 'serious'; readonly code: (typeof ACCEPTABLE)[number] }
  | { readonly severity: 'blocking' | 'note'; readonly code: string }
)

/** What a check found: `from` and `to` are its first and last instant, epoch milliseconds. */
export type Found = Verdict & {
  readonly from: number
  readonly to: number
  /** The indices of the bars or trades, or of the first of them. Empty if there are none. */
  readonly at: readonly number[]
  /** Bars, trades or whatever the sentence counts. */
  readonly count: number
  /** What was expected and what was found. */
  readonly what: string
}

/** What was found in the data of an instrument or a strategy. */
export type Finding = Omit<Found, 'at'> & {
  /** `BTCUSDT-PERP/4h` for bars, the id of a strategy for its ledger or returns. */
  readonly subject: string
  readonly file: string
  /** The first rows of the file that it concerns; empty if they are not known. */
  readonly rows: readonly number[]
  /** The reason that the catalogue gives; null unless it is accepted. */
  readonly accepted: string | null
}

/** What the data of an instrument or a strategy cover, and what was found in them. */
export type SubjectReport = {
  readonly subject: string
  readonly file: string
  /** Bars, payments, trades or days. */
  readonly count: number
  readonly noun: 'bars' | 'payments' | 'trades' | 'days'
  /** First and last instant; null without data. */
  readonly from: number | null
  readonly to: number | null
  readonly findings: readonly Finding[]
  /** The strategies whose history these data make. */
  readonly strategies: readonly string[]
}

/** One report per instrument and strategy, in the order of the book. */
export type DataReport = readonly SubjectReport[]
