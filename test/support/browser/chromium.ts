// Chromium for the tests of pages: the one of this machine, or Debian's, unpacked into the project.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { machine } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, type BrowserServer, chromium, type LaunchOptions, type Page } from 'playwright-core'

const ROOT = join(import.meta.dirname, '../../..')
const SCRIPT = join(ROOT, 'deploy/servers/unpack-packages.sh')
const PACKAGES = join(ROOT, '.servers/chromium')

const INSTALLED = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(path => existsSync(path))

/** It requests nothing but the page, runs as root too, and starts no process before a page needs one. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ...['--disable-site-isolation-trials', '--disable-gpu-compositing'],
]

/** Longer than a busy machine takes for anything that a page does. */
export const PATIENCE_MS = 120_000

/**
 * Starts a browser without a window. Rejects if this machine has none and Debian's cannot be downloaded, and if it draws
 * no letters: without a font no page is ever too wide.
 */
export async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch(await launchOptions())
  if (await drawsLetters(browser)) return browser
  await browser.close()
  throw new Error(NO_LETTERS)
}

/** The same, for others to connect to. */
export async function serveChromium(): Promise<BrowserServer> {
  const server = await chromium.launchServer(await launchOptions())
  const browser = await chromium.connect(server.wsEndpoint())
  const draws = await drawsLetters(browser)
  await browser.close()
  if (draws) return server
  await server.close()
  throw new Error(NO_LETTERS)
}

const NO_LETTERS = 'Chromium finds no font and draws no letters; install the package fonts-dejavu-core'

async function launchOptions(): Promise<LaunchOptions> {
  await bringChromium()
  const found = INSTALLED === undefined ? unpacked() : { executablePath: INSTALLED }
  return { timeout: PATIENCE_MS, ...found, args: ARGUMENTS }
}

/** Unpacks Chromium if this machine has none, once for all callers. */
async function bringChromium(): Promise<void> {
  if (INSTALLED !== undefined) return
  try {
    await promisify(execFile)(SCRIPT, [PACKAGES, 'chromium-headless-shell', 'fonts-dejavu-core'])
  } catch (error) {
    const remedy = 'install one, as /usr/bin/chromium or /usr/bin/google-chrome, and run the tests again'
    throw new Error(`this machine has no Chromium, and Debian's could not be unpacked; ${remedy}`, {
      cause: error,
    })
  }
}

/** Without a font every text is 0 pixels wide, and no page is ever too wide. */
async function drawsLetters(browser: Browser): Promise<boolean> {
  const page = await browser.newPage()
  await page.setContent('<span>letters</span>')
  const box = await page.locator('span').boundingBox()
  await page.close()
  return box !== null && box.width > 0
}

/** How the unpacked one finds its libraries, and fonts that are the same on every machine. */
function unpacked(): LaunchOptions {
  const folders = ['usr/lib', 'lib'].map(folder => join(PACKAGES, folder, `${machine()}-linux-gnu`))
  return {
    executablePath: join(PACKAGES, 'usr/lib/chromium/chromium-headless-shell'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: folders.flatMap(folder => [folder, join(folder, 'pulseaudio')]).join(':'),
      FONTCONFIG_FILE: join(import.meta.dirname, 'chromium-fonts.conf'),
      XDG_CACHE_HOME: join(PACKAGES, 'var/cache'),
    },
  }
}

/** What the browser complains of on a page from now on: errors and warnings of its console, and errors of scripts. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(error.message))
  return complaints
}
