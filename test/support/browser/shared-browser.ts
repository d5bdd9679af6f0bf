// The browser of this run, and pages in it that reach nothing but the service that they come from.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Download,
  type Page,
} from 'playwright-core'
import { expect } from 'vitest'
import { atEnd, atEndOfFile } from '../ends.ts'
import { shared } from '../runner/shared.ts'
import { complaintsOf, PATIENCE_MS } from './chromium.ts'

let connecting: Promise<Browser> | null = null

/** The browser of this run, for the rest of the file. */
export function openBrowser(): Promise<Browser> {
  connecting ??= connect()
  return connecting
}

async function connect(): Promise<Browser> {
  const { url } = await shared('chromium')
  const browser = await chromium.connect(url)
  atEndOfFile(() => {
    ;[connecting, common] = [null, null]
    return browser.close()
  })
  return browser
}

export type OpenedPage = {
  readonly page: Page
  readonly context: BrowserContext
  /** What the policy forbids, what fails, and what would leave the origin. */
  readonly complaints: string[]
}

export type PageOptions = Omit<BrowserContextOptions, 'viewport'> & { readonly width?: number }

/** Asks its origin alone, which is that of the address that it was opened with last. */
type Confined = OpenedPage & { readonly goto: (address: string) => Promise<unknown> }

/** The page that the tests of a file have one after another. */
let common: Promise<Confined> | null = null

/**
 * Opens an address with the network beyond its origin cut off. The page is the one of the test before as if it were new, which
 * takes a fifth of the time of a new one; with options of a context it is one of the test's own.
 */
export async function openPage(
  address: string,
  { width = WIDTH, ...options }: PageOptions = {},
): Promise<OpenedPage> {
  if (Object.keys(options).length > 0) {
    const own = await confine(await openBlank({ width, ...options }))
    await own.goto(address)
    return own
  }
  common ??= openContext({}).then(confine)
  const opened = await common
  const { page, context, complaints } = opened
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.goto('about:blank') // what the page before had to say is said
  await context.clearPermissions()
  await page.emulateMedia({ media: null, colorScheme: null })
  await page.setViewportSize({ width, height: HEIGHT })
  complaints.length = 0
  await opened.goto(address)
  return opened
}

async function confine(opened: OpenedPage): Promise<Confined> {
  const { page, context, complaints } = opened
  let origin = ''
  await context.route('**/*', route => {
    const url = route.request().url()
    if (url.startsWith(`${origin}/`) || url.startsWith('data:')) return route.continue()
    complaints.push(`asks for ${url}`)
    return route.abort()
  })
  const goto = (address: string) => {
    origin = new URL(address).origin
    return page.goto(address)
  }
  return { ...opened, goto }
}

/** A page that shows nothing yet, until the end of the running test, or of the file if no test runs. */
export async function openBlank(options: PageOptions): Promise<OpenedPage> {
  const opened = await openContext(options)
  atEnd(() => opened.context.close())
  return opened
}

async function openContext({ width = WIDTH, ...options }: PageOptions): Promise<OpenedPage> {
  const browser = await openBrowser()
  const context = await browser.newContext({ viewport: { width, height: HEIGHT }, ...options })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  return { page, context, complaints: complaintsOf(page) }
}

const WIDTH = 1280
const HEIGHT = 900

export type Size = readonly [width: number, colorScheme: 'light' | 'dark']

/** A phone in the one scheme, and a screen in the other. */
const SIZES: readonly Size[] = [
  [390, 'light'],
  [1280, 'dark'],
]

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The elements that a page makes hard to use in its present state, each with the rule of axe. */
export async function inaccessibleOn(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(await readFile(AXE, 'utf8'))
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

/** Expects that a page is accessible and not wider than the window in each size. */
export async function expectReadable(page: Page, name: string, sizes = SIZES): Promise<void> {
  for (const [width, colorScheme] of sizes) {
    await page.setViewportSize({ width, height: HEIGHT })
    await page.emulateMedia({ colorScheme })
    expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width])
    const found = await inaccessibleOn(page)
    expect([name, width, colorScheme, found]).toEqual([name, width, colorScheme, []])
    await photograph(page, `${name}-${width}-${colorScheme}`)
  }
}

/** Expects that a page of forms fits a screen and a phone, where it is accessible and no table scrolls. */
export async function expectFitting(page: Page, name: string): Promise<void> {
  const scrolls = '[...document.querySelectorAll(".scroll")].some(it => it.scrollWidth > it.clientWidth)'
  for (const width of [WIDTH, 390]) {
    await page.setViewportSize({ width, height: HEIGHT })
    expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width])
    await photograph(page, `${name}-${width}`)
  }
  expect([name, await page.evaluate(scrolls), await inaccessibleOn(page)]).toEqual([name, false, []])
}

/** What the policy of a page forbids of it. */
export const violationsIn = (complaints: readonly string[]) =>
  complaints.filter(text => /content security policy/i.test(text))

/** Screenshots for a person to look at, outside the repository. */
export async function photograph(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder)
    await page.screenshot({ path: `${folder}/${name.replaceAll(/[^\w-]/g, '_')}.png`, fullPage: true })
}

/** The text of a file that a page saves. */
export async function textOf(download: Download): Promise<string> {
  let text = ''
  for await (const chunk of (await download.createReadStream()).setEncoding('utf8')) text += chunk
  return text
}
