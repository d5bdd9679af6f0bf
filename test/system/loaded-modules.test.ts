// What a command loads before it does anything: each module costs every start a millisecond, and nobody sees which one.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { type Exit, highwater, startHighwater } from '../support/history/highwater-process.ts'

const ROOT = pathToFileURL(`${join(import.meta.dirname, '../..')}/`).href
const NODE_OPTIONS = `--import=${new URL('test/support/http/tell-modules.ts', ROOT).href}`

/** Modules that a process loaded, by packages and by files of the product. */
function loadedBy({ stderr }: Exit) {
  const urls = [...stderr.matchAll(/^loaded (file:\S+)$/gm)].map(([, url]) => url!)
  const packages = urls.flatMap(url => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
  const own = urls.filter(url => !url.includes('/node_modules/')).map(url => url.replace(ROOT, ''))
  return { packages: [...new Set(packages)].sort(), own }
}

const inRooms = (own: readonly string[], ...rooms: readonly string[]): string[] =>
  own.filter(path => rooms.some(room => path.startsWith(room)))

describe('a service of history on files', () => {
  test('loads what it answers with, and nothing of builds, signals, S3 or metrics', async () => {
    const { url, privateUrl } = inject('tinyStore')
    const env = { STORE_URL: url, PRIVATE_STORE_URL: privateUrl, HISTORY_PORT: '0', NODE_OPTIONS }
    const service = startHighwater(['serve', 'history'], { env })
    const [, address] = await service.prints(/^history service on (\S+)$/m)
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    service.kill('SIGTERM')
    const { packages, own } = loadedBy(await service.ended)
    expect(packages).toEqual([
      '@hono/node-server',
      '@uwdata/flechette',
      'commander',
      'hono',
      'hyparquet',
      'hyparquet-writer',
      'ipaddr.js',
      'lru-cache',
      'p-map',
      'zod',
    ])
    expect(inRooms(own, 'pipeline/', 'static-build/', 'signals/')).toEqual([
      'pipeline/book/problem.ts',
      'signals/delivery/secret-box.ts',
    ])
    expect(inRooms(own, 'core/contract/payloads/', 'core/contract/openapi')).toEqual([])
    expect(inRooms(own, 'cli/commands/')).toEqual(['cli/commands/commands.ts', 'cli/commands/serve.ts'])
  })
})

describe('--help', () => {
  test('loads no command', async () => {
    const { packages, own } = loadedBy(await highwater(['--help'], { env: { NODE_OPTIONS } }))
    expect(packages).toEqual(['commander', 'ipaddr.js', 'zod'])
    expect(inRooms(own, 'cli/commands/')).toEqual(['cli/commands/commands.ts'])
  })
})
