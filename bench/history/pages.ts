// The pages of a version: what they add to a night, how many bytes a reader loads, how soon they are seen, and how fast
// they follow the slider.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Artifact, DEFAULT_EFFORT, type Manifest } from '#core/contract/manifest.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { decodeSnapshot } from '#core/dataset/snapshot-codec.ts'
import { INTEGRITY } from '#pages/assets.ts'
import { fileKey, PAGE_ROUTES, type PageId } from '#pages/page-routes.ts'
import { type SheetFacts, sheetSeries } from '#pages/sheet/facts.ts'
import { type SheetModel, sheetModel } from '#pages/sheet/model.ts'
import { SECTIONS } from '#pages/sheet/sections.ts'
import { publishedPoints, renderPoint } from '#static-build/render-point.ts'
import { writePoints } from '#static-build/render-version.ts'
import { openStore } from '#storage/open-store.ts'
import { readHead } from '#storage/pointer-log.ts'
import { readManifest, readSnapshotFiles } from '#storage/published-files.ts'
import { generatedId, generateSnapshot } from '../harness/generated-store.ts'
import type { Ground } from '../harness/ground.ts'
import { median } from '../harness/load.ts'
import { atMost, type Figure, plain, type Section } from '../harness/report.ts'
import { startTier } from '../harness/servers.ts'
import { GENERATED_VERSION, runBuild, writeGeneratedBook } from './build.ts'
import { measureInChromium } from './pages-in-chromium.ts'

const STRATEGIES = 100
/** A larger book is built once: its build is long enough. */
const NIGHTS = 3
const MOST_SHARE = 10
const MOST_HTML_KB = 20

/** The book page has a row a strategy, and its charts are of ten years. */
const BOOK = { strategies: 1000, days: 3650 }
const ROUNDS = 5
const SHEETS_A_ROUND = 20

/** Strategies of the sheets that are looked at: of the sample book, and of the generated one. */
const SAMPLE_ID = 'hazel'
const GENERATED_ID = generatedId(0)

/** `BENCH_BOOKS=1000` takes minutes. */
export async function measurePages({ folder, sample, stops }: Ground): Promise<Section> {
  const sizes = (process.env.BENCH_BOOKS ?? String(STRATEGIES)).split(',').map(Number)
  const figures: Figure[] = []
  for (const size of sizes) figures.push(...(await measureNights(folder, size)))
  const store = storeOf(folder, sizes.at(-1)!)
  const { manifest, snapshot } = await readPublished(store)
  const days = snapshot.strategies.find(({ id }) => id === GENERATED_ID)!.daily.values.length
  const tier = await startTier(pathToFileURL(store).href, 'all')
  stops.push(tier.stop)
  figures.push(
    ...sizesOf((await readPublished(sample.folder)).manifest, SAMPLE_ID, 'the sample book'),
    ...sizesOf(manifest, GENERATED_ID, `${days} days`),
    ...(await measureInChromium(tier.url, GENERATED_ID, days)),
    ...measureRendering(snapshot),
  )
  return {
    title: 'Pages',
    about:
      `Books of modules on ten years of bars, built by default. Processor time that pages add to a night: every page and asset ` +
      'of the built snapshot is rendered and compressed again by `renderPoint` and written by `writePoints` into a store, on one ' +
      'thread, in relation to the processor time of the whole build (child processes included) less that; checksums that are ' +
      `verified at the end are counted as no part of the pages. The median of ${NIGHTS} builds of up to ${STRATEGIES} strategies; ` +
      'of a larger book, one. Bytes: files and twins of the manifest. ' +
      `In Chromium, ${manifest.strategies.length} strategies behind the tier. A step of the slider is from the input event to ` +
      'the end of the layout of all sections in view (1400 x 1000): model, text, DOM, style and layout, without paint, after ' +
      'a step that loads the series. First paint: 1.6 Mbit/s, 150 ms, a processor four times slower, an empty ' +
      'cache, from the short address with its redirect, 390 pixels wide; shifts also at 1400, until the page is quiet. In Node, ' +
      'processor time on one thread.',
    figures,
  }
}

const storeOf = (folder: string, size: number): string => join(folder, `pages-${size}`)

/** What was published into a folder last. */
async function readPublished(folder: string): Promise<{ manifest: Manifest; snapshot: Snapshot }> {
  const { href } = pathToFileURL(folder)
  const [store, privateStore] = [await openStore(href), await openStore(`${href}.private`)]
  const head = await readHead(store)
  if (head === null) throw new Error(`nothing is published in ${folder}`)
  const manifest = await readManifest(store, head.entry)
  return { manifest, snapshot: decodeSnapshot(await readSnapshotFiles(privateStore, manifest)) }
}

const isOfPages = ({ key, media_type }: Artifact): boolean =>
  media_type.startsWith('text/html') || key.includes('/assets/')

async function measureNights(folder: string, size: number): Promise<Figure[]> {
  const [book, store] = [join(folder, `pages-book-${size}`), storeOf(folder, size)]
  await writeGeneratedBook(book, size)
  const [shares, used]: [number[], number[]] = [[], []]
  for (let night = 0; night < (size <= STRATEGIES ? NIGHTS : 1); night++) {
    for (const each of [store, `${store}.private`]) await rm(each, { recursive: true, force: true })
    const { processorSeconds } = await runBuild(book, store, size, 'default')
    const pages = await secondsOfPages((await readPublished(store)).snapshot, join(folder, 'pages-alone'))
    used.push(pages)
    shares.push((100 * pages) / (processorSeconds - pages))
  }
  const { artifacts } = (await readPublished(store)).manifest
  const [pages, others] = [artifacts.filter(isOfPages), artifacts.filter(each => !isOfPages(each))].map(
    bytesOf,
  )
  const name = `${size} strategies: pages,`
  return [
    plain(`${name} processor time`, median(used), 's'),
    atMost(`${name} share of the processor time of a night without them`, median(shares), MOST_SHARE, '%'),
    plain(`${name} bytes`, pages! / 2 ** 20, 'MiB'),
    atMost(`${name} share of the bytes of a night without them`, (100 * pages!) / others!, MOST_SHARE, '%'),
  ]
}

/** With both twins. */
const bytesOf = (artifacts: readonly Artifact[]): number =>
  artifacts
    .flatMap(artifact => [artifact, ...Object.values(artifact.encodings)])
    .reduce((sum, { bytes }) => sum + bytes, 0)

/** Seconds of processor time, of all threads of this process, for rendering, compressing and writing every page and asset. */
async function secondsOfPages(snapshot: Snapshot, folder: string): Promise<number> {
  await mkdir(folder)
  const store = await openStore(pathToFileURL(folder).href)
  const points = publishedPoints(snapshot).filter(({ kind }) => kind !== 'answer')
  const before = process.cpuUsage()
  for (const point of points) await writePoints(store, [renderPoint(snapshot, point, DEFAULT_EFFORT)])
  const { user, system } = process.cpuUsage(before)
  await rm(folder, { recursive: true })
  return (user + system) / 1e6
}

/** What a reader loads before anything is touched. */
function sizesOf({ version, artifacts }: Manifest, sid: string, name: string): Figure[] {
  const kb = (file: string): number => {
    const found = artifacts.find(({ key }) => key === fileKey(version, file))
    return (found?.encodings.br?.bytes ?? Number.NaN) / 1000
  }
  const [page, style, script] = [
    kb(`strategies/${sid}/sheet.html`),
    kb('assets/style.css'),
    kb('assets/page.js'),
  ]
  return [
    atMost(`a sheet, ${name}: HTML by brotli`, page, MOST_HTML_KB, 'kB'),
    plain(`a sheet, ${name}: style`, style, 'kB'),
    plain(`a sheet, ${name}: script`, script, 'kB'),
    plain(`a sheet, ${name}: all three`, page + style + script, 'kB'),
  ]
}

function measureRendering(snapshot: Snapshot): Figure[] {
  const sids = snapshot.strategies.slice(0, SHEETS_A_ROUND).map(({ id }) => id)
  const render = (id: PageId, of: Snapshot, sid: string) =>
    PAGE_ROUTES.find(route => route.id === id)!.render(of, { sid, risk_pct: null }, INTEGRITY)
  const sheets = msEach(() => {
    for (const sid of sids) render('sheet', snapshot, sid)
  })
  const drawn = snapshot.strategies
    .slice(0, SHEETS_A_ROUND)
    .map(strategy => modelOf(snapshot, strategy, render('sheet', snapshot, strategy.id)))
  const charts = msEach(() => {
    for (const model of drawn) {
      for (const name of ['equity', 'underwater', 'years', 'rolling', 'trades'] as const)
        SECTIONS[name](model)
    }
  })
  const large = generateSnapshot(BOOK.strategies, BOOK.days, GENERATED_VERSION)
  return [
    plain('a sheet in Node', sheets / sids.length, 'ms'),
    plain('its six charts', charts / drawn.length, 'ms'),
    plain(
      `the book page of ${BOOK.strategies} strategies in Node`,
      msEach(() => render('book', large, '')),
      'ms',
    ),
  ]
}

const FACTS = /<script type="application\/json" id="facts">(.*?)<\/script>/s

/** The model of a sheet at base risk, from the facts that it carries. */
function modelOf(snapshot: Snapshot, strategy: StrategyData, page: string): SheetModel {
  const facts = JSON.parse(FACTS.exec(page)?.[1] ?? '') as SheetFacts // as the script of the page reads it
  return sheetModel(facts, sheetSeries(snapshot, strategy), null)
}

/** Processor time of this thread in a round, the median after one that is not counted. */
function msEach(work: () => unknown): number {
  const taken: number[] = []
  for (let round = -1; round < ROUNDS; round++) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    if (round >= 0) taken.push((user + system) / 1000)
  }
  return median(taken)
}
