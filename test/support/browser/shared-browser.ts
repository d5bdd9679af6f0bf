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
import { atEnd } from '../ends.ts'
import { shared } from '../runner/shared.ts'
import { complaintsOf, PATIENCE_MS } from './chromium.ts'

/** The browser of this run, for the running test, or for the file if no test runs. */
export async function openBrowser(): Promise<Browser> {
  const { url } = await shared('chromium')
  const browser = await chromium.connect(url)
  atEnd(() => browser.close())
  return browser
}

export type OpenedPage = {
  readonly page: Page
  readonly context: BrowserContext
  /** What the policy forbids, what fails, and what would leave the origin. */
  readonly complaints: string[]
}

export type PageOptions = Omit<BrowserContextOptions, 'viewport'> & { readonly width?: number }

/** Opens an address with the network beyond its origin cut off, until the end of the running test. */
export async function openPage(address: string, options: PageOptions = {}): Promise<OpenedPage> {
  const opened = await openBlank(options)
  const { page, context, complaints } = opened
  const { origin } = new URL(address)
  await context.route('**/*', route => {
    const url = route.request().url()
    if (url.startsWith(`${origin}/`) || url.startsWith('data:')) return route.continue()
    complaints.push(`asks for ${url}`)
    return route.abort()
  })
  await page.goto(address)
  return opened
}

/** A page that shows nothing yet. */
export async function openBlank({ width = 1280, ...options }: PageOptions): Promise<OpenedPage> {
  const browser = await openBrowser()
  const context = await browser.newContext({ viewport: { width, height: HEIGHT }, ...options })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  return { page, context, complaints: complaintsOf(page) }
}

const HEIGHT = 900

export type Size = readonly [width: number, colorScheme: 'light' | 'dark']

/** A phone and a screen, in either scheme. */
const SIZES: readonly Size[] = [390, 1280].flatMap(width => [
  [width, 'light'] as const,
  [width, 'dark'] as const,
])

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The rules whose result depends on colours; that of any other is the same in either scheme. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** The elements that a page makes hard to use in its present state, each with the rule of axe. */
export async function inaccessibleOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(await readFile(AXE, 'utf8'))
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  return page.evaluate(`axe.run(${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

/** Expects that a page is accessible and not wider than the window in each size. */
export async function expectReadable(page: Page, name: string, sizes = SIZES): Promise<void> {
  const seen = new Set<number>()
  for (const [width, colorScheme] of sizes) {
    await page.setViewportSize({ width, height: HEIGHT })
    await page.emulateMedia({ colorScheme })
    expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width])
    const found = await inaccessibleOn(page, seen.has(width) ? OF_COLOURS : undefined)
    expect([name, width, colorScheme, found]).toEqual([name, width, colorScheme, []])
    await photograph(page, `${name}-${width}-${colorScheme}`)
    seen.add(width)
  }
}

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
