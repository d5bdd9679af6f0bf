// Takes the picture of the README from a service with the sample book: node docs/draw-picture.ts http://127.0.0.1:8080
import { join } from 'node:path'
import { launchChromium } from '#test/support/browser/chromium.ts'

/** Where the picture is committed. */
export const PICTURE = join(import.meta.dirname, 'fact-sheet.png')

/** The part of the sheet that a screen shows first. */
const SCREEN = { width: 1080, height: 960 }

/** Writes what a browser shows of the sheet of a strategy. */
export async function takePicture(url: string, path: string): Promise<void> {
  await using browser = await launchChromium()
  const page = await browser.newPage({ viewport: SCREEN, colorScheme: 'light' })
  await page.goto(`${url}/strategies/alder`, { waitUntil: 'networkidle' })
  await page.screenshot({ path })
}

if (import.meta.main) await takePicture(process.argv[2] ?? 'http://127.0.0.1:8080', PICTURE)
