// Resources evaluated as the wire sees them: rendered to bytes, and read back through the schema that is published.
import { z } from 'zod'
import { DEFAULT_PARAMS, type Params } from '#core/contract/parameters.ts'
import { liveData } from '#core/contract/payloads/live.ts'
import { meta } from '#core/contract/payloads/meta.ts'
import { statsData } from '#core/contract/payloads/stats.ts'
import { correlationMatrix } from '#core/dataset/resources/correlation.ts'
import { exportTable } from '#core/dataset/resources/export.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { curvePoints, returnPoints } from '#core/dataset/resources/returns.ts'
import { rollingRows } from '#core/dataset/resources/rolling.ts'
import { summaryData } from '#core/dataset/resources/summary.ts'
import { tradeList } from '#core/dataset/resources/trades.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'

type Given = Partial<Params>

/** The body of an answer as text, and its headers. */
export function textOf(id: ResourceId, snapshot: Snapshot, given: Given = {}) {
  const { bytes, headers } = renderAnswer(id, snapshot, { ...DEFAULT_PARAMS, ...given })
  return { text: new TextDecoder().decode(bytes), headers }
}

const reader =
  <Data extends z.ZodType>(id: ResourceId, data: Data) =>
  (snapshot: Snapshot, given: Given = {}) =>
    z.object({ data, meta }).parse(JSON.parse(textOf(id, snapshot, given).text))

export const readReturns = reader('returns', returnPoints())
export const readCurve = reader('curve', curvePoints())
export const readRolling = reader('rolling', rollingRows())
export const readStats = reader('stats', statsData())
export const readTrades = reader('trades', tradeList())
export const readLive = reader('live', liveData())
export const readCorrelation = reader('correlation', correlationMatrix())
export const readSummary = reader('summary', summaryData())
export const readExport = reader('export', exportTable())

/** The cells of a CSV answer, the header first. Cells of ours need no quotes. */
export function readCsv(id: ResourceId, snapshot: Snapshot, given: Given = {}) {
  const { text, headers } = textOf(id, snapshot, { ...given, format: 'csv' })
  const lines = text.split('\r\n')
  if (lines.pop() !== '') throw new Error('the last line of a CSV answer must end too')
  const [header = [], ...rows] = lines.map(line => line.split(','))
  return { header, rows, headers }
}
