// What a build costs beside the bare compression of its files, for reported returns, of which rendering is nearly all.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TWIN_ENDINGS, versionFolder } from '#core/contract/artifacts.ts'
import { type Artifact, manifest } from '#core/contract/manifest.ts'
import { compressTwins } from '#static-build/render-point.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { openStore } from '#storage/open-store.ts'
import type { Ground } from '../harness/ground.ts'
import { type Figure, plain, type Section } from '../harness/report.ts'
import { writeReturnsBook } from '../harness/returns-book.ts'
import { GENERATED_VERSION, runBuild } from './build.ts'

const STRATEGIES = 1_000
const DAYS = 3_650
const ROUNDS = 2

const EFFORTS = ['quick', 'default'] as const
type Effort = (typeof EFFORTS)[number]

export async function measureCompression({ folder }: Ground): Promise<Section> {
  const book = join(folder, 'reported')
  await writeReturnsBook(book, STRATEGIES, DAYS)
  const figures: Figure[] = []
  const stores: string[] = []
  for (const effort of EFFORTS) {
    const rounds: Round[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const store = join(folder, `store-${effort}-${i}`)
      stores.push(store)
      rounds.push(await measureRound(book, store, effort))
    }
    const [best] = rounds.toSorted((a, b) => a.times - b.times)
    const { built, bare, times } = best!
    figures.push(
      plain(`${effort}: processor time of the build`, built, 's'),
      plain(`${effort}: of the bare compression`, bare, 's'),
      plain(`${effort}: build to bare compression`, times, 'times'),
    )
  }
  // Not before the end: for minutes, Linux makes no file where one was removed, and searches for another place at each.
  for (const store of stores) {
    for (const each of [store, `${store}.private`]) await rm(each, { recursive: true, force: true })
  }
  return {
    title: 'Builds beside bare compression',
    about:
      `${STRATEGIES} strategies of reported returns over ${DAYS} days. Processor time of the whole build, its start and its ` +
      'reading back included, beside that of a loop on one thread that makes the same Brotli and gzip files from the published ones and does ' +
      `nothing else. The best of ${ROUNDS} rounds, each a build and a loop.`,
    figures,
  }
}

type Round = { readonly built: number; readonly bare: number; readonly times: number }

async function measureRound(book: string, store: string, effort: Effort): Promise<Round> {
  const { processorSeconds: built } = await runBuild(book, store, STRATEGIES, effort)
  const bare = await compressAgain(store, effort)
  return { built, bare, times: built / bare }
}

/** Seconds of processor time that the twins of a version take. Throws if they are not those that were published. */
async function compressAgain(folder: string, effort: Effort): Promise<number> {
  const store = await openStore(pathToFileURL(folder).href)
  const key = `${versionFolder(GENERATED_VERSION)}/manifest.json`
  const { artifacts } = manifest.parse(parseJson((await store.read(key))!))
  let seconds = 0
  for (const artifact of artifacts.filter(({ encodings }) => encodings.br !== undefined)) {
    const bytes = new Uint8Array(await readFile(join(folder, artifact.key)))
    const before = process.cpuUsage()
    const [br] = compressTwins(bytes, kindOf(artifact), effort === 'quick' ? 'quick' : 'good')
    const { user, system } = process.cpuUsage(before)
    seconds += (user + system) / 1e6
    const published = await readFile(join(folder, artifact.key + TWIN_ENDINGS.br))
    if (published.compare(br!.bytes) !== 0) throw new Error(`${artifact.key} was compressed otherwise`)
  }
  return seconds
}

const kindOf = ({ media_type, rows, encodings }: Artifact) =>
  encodings.gzip === undefined
    ? 'page'
    : rows !== null || media_type.startsWith('text/csv')
      ? 'table'
      : 'json'
