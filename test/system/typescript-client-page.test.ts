// The built client in Chromium, in a page of another origin than the service's.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signedHeaders } from '#signals/delivery/sign.ts'
import { watchedService } from '../clients/typescript/watched-service.ts'
import { FIRST_VERSION } from '../support/books/small-book.ts'
import { openBrowser } from '../support/browser/shared-browser.ts'
import { atEnd } from '../support/ends.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { SETTINGS } from '../support/history/history-app.ts'
import { start } from '../support/http/raw-server.ts'
import { SECRET } from '../support/signals/receiver-kit.ts'
import { signalContent } from '../support/signals/signals.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What the page does with the client; `order` is what the test gives it. */
const SCRIPT = `async order => {
  const { Highwater, HighwaterError, HighwaterSignals, verifyWebhook } = await import('/index.js')
  const book = await Highwater.open(order.url)
  const { values, meta } = await book.strategy('alder').returns({ risk_pct: 0.01 })
  const error = await book.strategy('oak').stats().catch(error => error)
  const { signal } = await verifyWebhook(order.headers, order.body, order.secret)
  return {
    opened: book.version,
    days: values.length,
    modelled: meta.modelled,
    refused: error instanceof HighwaterError && [error.code, error.requestId],
    verified: signal.signal_id,
    newest: [await book.newestVersion(), await book.newestVersion()],
  }
}`

test('a page of an allowed origin reads a pinned book, learns why it is refused, and verifies a delivery', async () => {
  const folder = await temporaryFolder()
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  expect((await startProcess(tsc, ['-p', 'clients/typescript', '--outDir', folder]).ended).code).toBe(0)
  let history = ''
  const pages = await start(async request => {
    const { pathname } = new URL(request.url)
    const policy = `default-src 'none'; script-src 'self'; connect-src ${history}`
    if (pathname === '/')
      return new Response('', { headers: { 'content-type': 'text/html', 'content-security-policy': policy } })
    return new Response(await readFile(join(folder, pathname)), {
      headers: { 'content-type': 'text/javascript' },
    })
  })
  const { url, requests } = await watchedService({
    settings: { ...SETTINGS, allowedOrigins: new Set([pages.url]) },
    newRequestId: () => '0123456789abcdef',
  })
  history = url
  const browser = await openBrowser()
  atEnd(() => browser.close())
  const page = await browser.newPage()
  await page.goto(pages.url)
  const body = JSON.stringify({ seq: 1, ...signalContent('a1') })
  const delivery = {
    body: new TextEncoder().encode(body),
    id: 'a1',
    seq: 1,
    prevSeq: 0,
    attempt: 1,
    sentAtMs: Date.now(),
  }
  const order = { url, headers: signedHeaders(delivery, [SECRET]), body, secret: SECRET }
  expect(await page.evaluate(`(${SCRIPT})(${JSON.stringify(order)})`)).toEqual({
    ...{ opened: FIRST_VERSION, days: 366, modelled: true, verified: 'a1' },
    refused: ['not_found', '0123456789abcdef'],
    newest: [FIRST_VERSION, FIRST_VERSION],
  })
  const preflights = requests.filter(line => line.startsWith('204'))
  expect([requests.length > 2, preflights]).toEqual([true, []])
})
