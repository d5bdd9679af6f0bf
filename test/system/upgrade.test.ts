// What the release before left behind: served, verified, continued without a restatement, rolled back to, and restored.
import { execFileSync } from 'node:child_process'
import { chmod, copyFile, cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { highwater, startHighwater } from '../support/history/highwater-process.ts'
import type { Running } from '../support/processes.ts'
import { startTestRedis } from '../support/servers/redis.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const FIXTURE = join(import.meta.dirname, '../fixtures/release-0.1.0')
const VERSION = '2024-03-01T00:15:00Z'
const NEWER = '2024-03-02T00:15:00Z'
const PINNED = '/v1/snapshots/20240301T001500Z/strategies/beech/trades'

/** As README.md of the fixture has them. */
const SECRET_KEY = `k1:${Buffer.alloc(32).toString('base64')}`
const CLIENT_KEY = 'hw_live_6I67Z3is_qLSnUNq0w6iKMVaM7mVB8MjLHymZPRB1KpFsPrDTmWD_3hKVRm'

let folder: string
let env: Record<string, string>

beforeAll(async () => {
  folder = await lastingFolder()
  execFileSync('tar', ['-xJf', join(FIXTURE, 'store.tar.xz'), '-C', folder])
  await copyFile(join(FIXTURE, 'signing-key.pem'), join(folder, 'key.pem'))
  await chmod(join(folder, 'key.pem'), 0o600)
  env = {
    STORE_URL: pathToFileURL(join(folder, 'store')).href,
    SIGNING_KEY_FILE: join(folder, 'key.pem'),
    DATA_FOLDER: join(folder, 'data'),
    HISTORY_PORT: '0',
    ADMIN_PORT: '0',
  }
})

async function serving<Result>(
  what: 'history' | 'signals',
  more: Record<string, string>,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const service: Running = startHighwater(['serve', what], { env: { ...env, ...more } })
  const [, url = ''] = await service.prints(new RegExp(`^${what} service on (http://\\S+)$`, 'm'))
  try {
    return await use(url)
  } finally {
    service.kill('SIGTERM')
    await service.ended
  }
}

const readJson = async (url: string, headers: Record<string, string> = {}): Promise<unknown> => {
  const response = await fetch(url, { headers })
  expect([url, response.status]).toEqual([url, 200])
  return response.json()
}

describe('a store of release 0.1.0', () => {
  test('is whole to the release of today, which names the release that made it', async () => {
    const verified = await highwater(['verify-store'], { env })
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringMatching(/^2024-03-01T00:15:00Z .* all as published$/m),
    ])
    const doctor = await highwater(['doctor', '--read-only', '--json'], { env })
    expect(doctor.stdout).toContain(`${VERSION} was built with highwater 0.1.0: manifest 1, snapshot 1;`)
  })

  test('is served: its files, and what is computed from its snapshot', () =>
    serving('history', {}, async url => {
      const file = await fetch(url + PINNED)
      expect(await file.text()).toBe(await readFile(join(folder, 'store', `${PINNED}.json`), 'utf8'))
      for (const path of [
        '/v1/strategies/ash/stats?risk_pct=0.01',
        '/v1/correlation?ids=ash,elm',
        '/v1/export?from=2024-02-01',
      ])
        expect(await readJson(url + path)).toMatchObject({ meta: { dataset_version: VERSION } })
    }))

  test('is continued without a restatement, and its own version stays as it was', async () => {
    const args = ['build', '--book', join(folder, 'book'), '--allow-stale', '--version', NEWER]
    const built = await highwater(args, { env })
    expect([built.code, built.stderr]).toEqual([0, expect.not.stringContaining('restate')])
    const versions = await highwater(['versions', '--json'], { env })
    expect(JSON.parse(versions.stdout)).toMatchObject([
      { version: NEWER, is_served: true, history_restated: false },
      { version: VERSION, is_served: false },
    ])
    const verified = await highwater(['verify-store'], { env })
    expect(verified.code).toBe(0)
    const rolledBack = await highwater(['rollback', VERSION], { env })
    expect([rolledBack.code, rolledBack.stderr]).toEqual([0, ''])
    await serving('history', {}, async url => {
      expect(await readJson(`${url}/v1/strategies`)).toMatchObject({ meta: { dataset_version: VERSION } })
    })
  })
})

test('a backup of release 0.1.0 is restored: its client pulls its signal with its key', async () => {
  const server = await startTestRedis()
  try {
    const signals = { SECRET_KEY, REDIS_URL: server.url, SIGNALS_PORT: '0', OPERATOR_PORT: '0' }
    await cp(join(FIXTURE, 'signals.jsonl'), join(folder, 'signals.jsonl'))
    const restored = await highwater(['ops', 'restore', join(folder, 'signals.jsonl')], {
      env: { ...env, ...signals },
    })
    expect([restored.code, restored.stderr]).toEqual([0, expect.any(String)])
    await serving('signals', signals, async url => {
      const pulled = await readJson(`${url}/v1/signals/history?since=0`, { 'X-API-Key': CLIENT_KEY })
      expect(
        z.object({ data: z.array(z.looseObject({ signal_id: z.string() })) }).parse(pulled).data,
      ).toMatchObject([{ signal_id: 'ash-example-1', action: 'long' }])
    })
  } finally {
    await server.stop()
  }
})
