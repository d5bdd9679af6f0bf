// Recomputes live records from opened seals and public answers.
import { z } from 'zod'
import { parseIsoDate } from '#core/calendar.ts'
import type { SealsRecord } from '#core/contract/payloads/live.ts'
import { pinnedPath } from '#core/contract/pins.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import type { OpenedSignals } from '#core/figures/live-figures.ts'
import { type LiveInput, liveEntries, liveFigures } from '#core/figures/live-figures.ts'
import { messageOf } from '#storage/error-code.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { openSeals, type PublicSeal, type ReadPublic } from '#storage/seals/chain.ts'
import { liveRecordsOf } from '#storage/seals/live-records.ts'
import { type Check, checkOf } from './check.ts'

const end = z.object({ to: z.string() })
const dataset = z.object({ version: z.string(), embargo_days: z.number(), window: end })

export async function readDataset(read: ReadPublic) {
  const bytes = await read('v1/dataset').catch(() => null) // without a version the service answers 503
  return z.object({ data: dataset }).safeParse(parseJson(bytes ?? '')).data?.data ?? null
}

const listing = z.array(z.object({ id: z.string() }))
const record = z.looseObject({ bar_minutes: z.number().nullable() })
const series = z.array(z.object({ t: z.string(), ret: z.number() }))
const side = z.enum(['long', 'short'])
const row = z.object({ side, entry_time: z.number(), exit_time: z.number(), live: z.string().nullish() })
const trades = z.array(row)
const exposure = z.object({ open_since: z.string().nullish() })
const stats = z.object({ fund_dd: z.object({ exposure: exposure.nullish() }) })

/**
 * Recomputes what is published of the live record of every strategy from what is opened up to the end of the data; `hidden` names
 * those that are not in the catalogue.
 */
export async function checkRecords(
  read: ReadPublic,
  seals: readonly PublicSeal[],
  data: Awaited<ReturnType<typeof readDataset>>,
): Promise<{ readonly check: Check; readonly hidden: readonly string[] }> {
  const none = '/v1/dataset has no version: nothing is compared with the seals'
  if (data === null) return { check: checkOf('live', 'not looked at', [none]), hidden: [] }
  const ask: Ask = async (path, shape) => {
    const address = pinnedPath(data.version, path)
    const found = z.object({ data: shape }).safeParse(parseJson((await read(address.slice(1))) ?? ''))
    if (found.success) return found.data.data
    throw new Error(`${address} is missing or has another form`)
  }
  const opened = await openSeals(read, seals, data.window.to)
  const listed = (await ask('/v1/strategies', listing)).map(({ id }) => ({ id, bar_minutes: null }))
  const { seals: chain, live } = liveRecordsOf(opened, seals, listed)
  const found: Found = { faults: [], notes: [] }
  for (const { id } of listed)
    await compareRecord(found, ask, id, live.get(id) ?? null, chain).catch(error =>
      found.faults.push(messageOf(error)),
    )
  const hidden = chain.absent.map(
    id => `${id} was live and is not in the catalogue: its seals alone are known`,
  )
  const summary = `strategies that were live: ${live.size}, not in the catalogue: ${hidden.length}`
  const proven = '; /live and /trades follow from the seals'
  return { check: checkOf('live', summary, found.faults, [...found.notes, ...hidden], proven), hidden }
}

type Ask = <Data>(path: string, shape: z.ZodType<Data>) => Promise<Data>

type Found = { readonly faults: string[]; readonly notes: string[] }

async function compareRecord(
  { faults, notes }: Found,
  ask: Ask,
  id: string,
  own: OpenedSignals | null,
  chain: SealsRecord,
) {
  const at = (name: string) => `/v1/strategies/${id}/${name}`
  const published = await ask(at('live'), record)
  const rows = await ask(at('trades'), trades)
  const days = await ask(at('returns'), series)
  const { fund_dd } = await ask(at('stats'), stats)
  const live = own && { ...own, bar_minutes: published.bar_minutes }
  const values = Float64Array.from(days, ({ ret }) => ret)
  const input: LiveInput = {
    daily: { period: 'daily', first: parseIsoDate(days[0]?.t ?? '') ?? 0, values },
    ...{ k: 1, trades: rows, open_since: fund_dd.exposure?.open_since ?? null, live },
    ...{ opened_to: chain.opened_to, gaps: chain.gaps },
  }
  const block = liveFigures(input)
  const { signals = [], events = [] } = live ?? {}
  const made = { ...publishFigures(block.values), seals: chain.opened_to && chain, events, signals }
  const stated = { undefined: block.undefined, bar_minutes: published.bar_minutes }
  const follows = JSON.parse(JSON.stringify({ ...made, ...stated }))
  const others = new Set(rows.some(trade => trade.live === undefined) ? ['live of trades'] : [])
  const differing = differences(follows, published, others)
  const words = liveEntries(input)
  const wrong = rows.findIndex(({ live }, i) => live !== undefined && live !== (words[i] ?? null))
  if (differing.length > 0)
    faults.push(`${at('live')} does not follow from what is opened: ${differing.join(', ')}`)
  const is = `${at('trades')}: trade ${wrong + 1} is ${rows[wrong]?.live}, and ${words[wrong]}`
  if (wrong !== -1) faults.push(`${is} follows from what is opened`)
  const { judged, sealed, late, missed, halted, by_hand, unmatched } = follows.entries
  const { live_since: since, ended_on: end } = follows
  const span = end === null ? `is live since ${since}` : `was live from ${since} to ${end}`
  const counts = `${sealed} by the strategy in time, ${late} late, ${missed} missed, ${halted} halted, ${by_hand} by hand`
  if (live !== null)
    notes.push(`${id} ${span}. Entries: ${judged}, ${counts}; signals of no trade: ${unmatched}`)
  if (others.size > 0)
    notes.push(`${at('live')} was made by another release; not compared: ${[...others].join(', ')}`)
}

/** Names of what differs. What only one of the two has is added to `others`: their releases differ. */
function differences(own: unknown, published: unknown, others: Set<string>, path = ''): readonly string[] {
  if (!isGroup(own) || !isGroup(published)) return own === published ? [] : ['']
  if (own.length !== published.length) return [''] // of arrays, or of one alone
  return Object.keys({ ...own, ...published }).filter(name => {
    const isKnown = name in own && name in published
    if (!isKnown) others.add(`${path}${name}`)
    const at = Array.isArray(own) ? path : `${path}${name}/`
    return isKnown && differences(own[name], published[name], others, at).length > 0
  })
}

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
