// Bytes of a daily update: the sample book night after night, and a larger book, each answer as a delta to the one of
// the night before and of a week before, beside its ordinary codings. Run: node bench/deltas.ts > bench/results/deltas.md
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { encodeDelta } from '#api/history/delta-coding.ts'
import { toIsoDate } from '#core/calendar.ts'
import { DEFAULT_PARAMS, type Params } from '#core/contract/parameters.ts'
import { canonicalPath } from '#core/contract/routes.ts'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resources.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import type { Book } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeSnapshot } from '#pipeline/night/compute-snapshot.ts'
import { SAMPLE_AS_OF, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { compressTwins, type Twin } from '#static-build/compress.ts'
import { sha256 } from '#storage/digest.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'

const ROUNDS = 9
const WEEK_DAYS = 7

/** Makes an export of 3 MB. */
const LARGE_STRATEGIES = 120
const LARGE_DAYS = 2_000

/** The dataset as it was published so many days before the newest. */
type Night = (daysBack: number) => Promise<Snapshot>

async function measure(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'highwater-deltas-'))
  try {
    const book = join(folder, 'book')
    await writeSampleBook(book)
    const sample = await measureBook(sampleNights(await readBook(book)))
    const large = await measureBook(async daysBack => largeNight(daysBack), ['export'])
    console.log(report(sample, large))
  } finally {
    await rm(folder, { recursive: true })
  }
}

const sampleNights =
  (book: Book): Night =>
  async daysBack => {
    const asOf = SAMPLE_AS_OF - daysBack
    const version = `${toIsoDate(asOf + 1)}T00:15:00Z`
    const { snapshot } = await computeSnapshot(book, {
      version,
      asOf,
      nowMs: Date.parse(version),
      allowStale: false,
      threads: 2,
      progress: () => {},
      elapsedMs: () => performance.now(),
    })
    return snapshot
  }

/** Returns that have nothing in common with each other: from a linear congruential generator. */
function largeNight(daysBack: number): Snapshot {
  let state = 1
  const aReturn = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state / 2 ** 32 - 0.5) / 20
  }
  const strategies = Array.from({ length: LARGE_STRATEGIES }, (_, i) => {
    const returns = Array.from({ length: LARGE_DAYS }, aReturn)
    return { id: `s${i}`, returns: returns.slice(0, LARGE_DAYS - daysBack) }
  })
  return handSnapshot(strategies, { version: `2026-11-${20 - daysBack}T00:15:00Z` })
}

type Row = {
  readonly address: string
  readonly identity: number
  readonly gzip: number
  readonly br: number
  readonly dayBefore: Delta
  readonly weekBefore: Delta
}

type Delta = { readonly bytes: number; readonly ms: number }

async function measureBook(
  night: Night,
  ids: readonly ResourceId[] = ['export', 'returns', 'curve'],
): Promise<Row[]> {
  const [now, dayBefore, weekBefore] = [await night(0), await night(1), await night(WEEK_DAYS)]
  const rows: Row[] = []
  for (const id of ids) {
    for (const params of pointsOf(id, now)) {
      const at = (snapshot: Snapshot): Uint8Array => renderAnswer(id, snapshot, params).bytes
      const bytes = at(now)
      const twins = compressTwins(bytes, params.format, 'best')
      rows.push({
        address: canonicalPath(id, params),
        identity: bytes.length,
        gzip: sizeOf(twins, 'gzip'),
        br: sizeOf(twins, 'br'),
        dayBefore: await measureDelta(bytes, at(dayBefore)),
        weekBefore: await measureDelta(bytes, at(weekBefore)),
      })
    }
  }
  return rows
}

/** Both periods and formats; of the strategies the first, because they are alike. */
const pointsOf = (id: ResourceId, { strategies }: Snapshot): Params[] =>
  (id === 'curve' ? (['daily'] as const) : (['daily', 'weekly'] as const)).flatMap(period =>
    (['json', 'csv'] as const).map(format => ({
      ...DEFAULT_PARAMS,
      sid: id === 'export' ? '' : (strategies[0]?.id ?? ''),
      period,
      format,
    })),
  )

const sizeOf = (twins: readonly Twin[], coding: Twin['coding']): number =>
  twins.find(twin => twin.coding === coding)?.bytes.length ?? 0

async function measureDelta(bytes: Uint8Array, dictionary: Uint8Array): Promise<Delta> {
  const times: number[] = []
  let delta: Uint8Array = new Uint8Array()
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now()
    delta = await encodeDelta(bytes, dictionary, sha256(dictionary))
    times.push(performance.now() - begin)
  }
  const decoded = zstdDecompressSync(delta.subarray(40), { dictionary })
  if (sha256(decoded) !== sha256(bytes)) throw new Error('a delta does not decode to its answer')
  return { bytes: delta.length, ms: times.toSorted((a, b) => a - b)[times.length >> 1]! }
}

function report(sample: readonly Row[], large: readonly Row[]): string {
  return [
    '# Bytes of a daily update',
    '',
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}.`,
    `\`node bench/deltas.ts\`: bodies in bytes, br and gzip as they are published, \`dcz\` to the answer of the night before`,
    `and of ${WEEK_DAYS} nights before, with its header of 40 bytes. Each delta is decoded and held to the answer. Time is`,
    `that of one delta on one thread beside the event loop, the median of ${ROUNDS}.`,
    '',
    '## The sample book, a day more each night',
    '',
    ...table(sample),
    '',
    `## A book of ${LARGE_STRATEGIES} strategies over ${LARGE_DAYS} days`,
    '',
    'Returns by chance, which no coding can guess.',
    '',
    ...table(large),
  ].join('\n')
}

const table = (rows: readonly Row[]): string[] => [
  '| Answer | identity | gzip | br | dcz, a day | of br | dcz, a week | of br | Time, ms |',
  '|---|---|---|---|---|---|---|---|---|',
  ...rows.map(toLine),
]

function toLine({ address, identity, gzip, br, dayBefore, weekBefore }: Row): string {
  const share = ({ bytes }: Delta): string => `${((bytes / br) * 100).toFixed(1)} %`
  const cells = [
    ...[`\`${address}\``, identity, gzip, br],
    ...[dayBefore.bytes, share(dayBefore), weekBefore.bytes, share(weekBefore), dayBefore.ms.toFixed(1)],
  ]
  return `| ${cells.join(' | ')} |`
}

await measure()
