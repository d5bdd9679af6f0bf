import { type Browser, chromium } from 'playwright-core'
import { atEnd } from '../ends.ts'
import { shared } from '../runner/shared.ts'

/** The browser of this run, for the running test, or for the file if no test runs. */
export async function openBrowser(): Promise<Browser> {
  const { url } = await shared('chromium')
  const browser = await chromium.connect(url)
  atEnd(() => browser.close())
  return browser
}
