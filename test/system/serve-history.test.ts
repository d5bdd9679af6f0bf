import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { startHighwater } from '../support/history/highwater-process.ts'
import { startServing } from '../support/history/history-process.ts'
import { openExchange } from '../support/http/raw-exchange.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

/** Preloaded into a process: at its end, writes the addresses of all modules that it loaded to the file MODULES names. */
const RECORD_MODULES = `
  import { writeFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
  process.on('exit', () => writeFileSync(process.env.MODULES, urls.join('\\n')))`

test('a service on a folder does not load modules that only builds, signals and S3 need', async () => {
  const { url, privateUrl } = inject('tinyStore')
  const MODULES = join(await lastingFolder(), 'modules')
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(RECORD_MODULES)}`
  const env = { STORE_URL: url, PRIVATE_STORE_URL: privateUrl, HISTORY_PORT: '0', MODULES, NODE_OPTIONS }
  const service = startHighwater(['serve', 'history'], { env })
  const [, address] = await service.prints(/^history service on (\S+)$/m)
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  service.kill('SIGTERM')
  expect(await service.ended).toMatchObject({ code: 0 })
  const loaded = await readFile(MODULES, 'utf8')
  expect(loaded).toContain('/api/history/')
  const unneeded = /\/(?:node_modules\/(?:@aws-sdk|ioredis|csv-parse|arquero|tinypool)|pipeline\/night)\//
  expect(loaded.split('\n').filter(module => unneeded.test(module))).toEqual([])
})

test.each([
  ['SIGTERM', 'SIGINT'],
  ['SIGINT', 'SIGTERM'],
] as const)(
  '%s lets requests in flight finish, makes /readyz fail, and ends with exit code 0; %s after it changes nothing',
  async (signal, second) => {
    const service = await startServing(inject('tinyStore'))
    const open = (path: string) => openExchange(service.url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`)
    const [slow, kept, ready] = [await open('/v1/export'), await open('/v1/export'), await open('/readyz')]
    await fetch(`${service.url}/healthz`) // answered after the three connections were accepted
    service.kill(signal)
    await service.prints(/^stopping: running requests end first$/m)
    for (const another of [signal, second]) service.kill(another) // as from a terminal and a launcher
    await untilRefused(service.url)

    for (const { send } of [slow, ready]) send('Connection: close\r\n\r\n')
    kept.send('\r\n') // a connection that would be kept does not delay the end
    for (const { answer: coming } of [slow, kept]) {
      const answer = await coming
      expect(answer.status).toBe(200)
      expect(answer.headers.get('connection')).toBe('close')
      expect(answer.body).toHaveLength(Number(answer.headers.get('content-length')))
    }
    expect((await ready.answer).status).toBe(503)
    expect(await service.ended).toMatchObject({ code: 0, signal: null })
  },
)

/** Resolves when new connections are refused; open ones are still served to their end. */
async function untilRefused(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/healthz`, { headers: { connection: 'close' } })
    } catch {
      return
    }
  }
}
