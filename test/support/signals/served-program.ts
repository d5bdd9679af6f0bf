// A small program as the service would read it from a version: four hundred days that fall, rise and fall again.
import { DAY_MS, parseIsoDate } from '#core/calendar.ts'
import { prepareProgram } from '#core/program/prepare-program.ts'
import type { ProgramPlan } from '#core/program/program.ts'
import { type Bars, sliceBars } from '#core/replay/bars.ts'
import { DEFAULT_TIERS } from '#pipeline/book/read-program.ts'
import { programDocuments } from '#static-build/save-private.ts'
import { toAnswerBytes } from '#storage/json-bytes.ts'
import { type DatasetFacts, PROGRAM_FILES, type ServedProgram } from '#storage/published-files.ts'
import { PROGRAM_ALIAS } from './signals.ts'

const FROM = parseIsoDate('2025-01-01')!

const WARM_UP = 250
const HAPPENED = 400

const PLAN: ProgramPlan = {
  alias: PROGRAM_ALIAS,
  instrument: 'BTCUSDT-SPOT',
  timeframe: '1d',
  window: { from: FROM, to: FROM + 999 },
  tiers: DEFAULT_TIERS,
  contribution_cadence_bars: 7,
  costs: { fee_bps: 10, slippage_bps: 5 },
  reference_equity_usd: 100_000,
  paused: [],
  tv_status: 'provisional',
}

const DATASET: Omit<DatasetFacts, 'version'> = {
  name: 'Test book',
  disclaimer: 'Past results say nothing about the future.',
  methodology_url: 'https://example.org/method',
  public_url: null,
  synthetic: false,
  embargo_days: 0,
}

/** Closes between 30 and 90 thousand dollars, the same in every run. */
function testBars(): Bars {
  const t = Float64Array.from({ length: WARM_UP + HAPPENED }, (_, i) => (FROM - WARM_UP + i) * DAY_MS)
  const c = t.map((_, i) => 60_000 + 30_000 * Math.cos(i / 60) + 500 * Math.sin(i))
  return {
    timeframeMs: DAY_MS,
    ...{ t, c },
    o: c.map(price => price * 0.99),
    h: c.map(price => price * 1.02),
    l: c.map(price => price * 0.98),
    v: c.map((_, i) => 100 + (i % 7)),
  }
}

/** The program of a version, as a night would have published it on the first `days` of the market. */
export function servedProgram(
  change: Partial<ProgramPlan> = {},
  version = '2026-11-21T00:00:00Z',
  days = WARM_UP + HAPPENED,
): ServedProgram {
  const data = prepareProgram({ ...PLAN, ...change }, sliceBars(testBars(), 0, days))
  const all = programDocuments(data, version)
  const documents = Object.fromEntries(PROGRAM_FILES.map(file => [file, toAnswerBytes(all[file])]))
  return {
    ...{ version, alias: data.plan.alias, data, dataset: { ...DATASET, version } },
    documents: documents as ServedProgram['documents'], // one entry a file
  }
}

/** The same one for every test that does not care. */
export const PROGRAM = servedProgram()
