// What the release before left behind: served, verified, continued without a restatement, rolled back to, and restored.
import { execFileSync } from 'node:child_process'
import { chmod, copyFile, cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { run } from '../cli/made-up.ts'
import { startHighwater } from '../support/history/highwater-process.ts'
import { ownRedis } from '../support/servers/use-redis.ts'
import { lastingFolder } from '../support/temporary-folder.ts'

const FIXTURE = join(import.meta.dirname, '../fixtures/release-0.1.0')
const VERSION = '2024-03-01T00:15:00Z'
const NEWER = '2024-03-02T00:15:00Z'
const PINNED = '/v1/snapshots/20240301T001500Z/strategies/beech/trades'

/** As README.md of the fixture has them. */
const SECRET_KEY = `k1:${Buffer.alloc(32).toString('base64')}`
const CLIENT_KEY = 'hw_live_6I67Z3is_qLSnUNq0w6iKMVaM7mVB8MjLHymZPRB1KpFsPrDTmWD_3hKVRm'

const report = z.object({
  checks: z.array(
    z.object({ check: z.string(), told: z.string(), faults: z.array(z.object({ told: z.string() })) }),
  ),
})

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

/** Starts a service, which ends with the running test. */
async function serve(what: 'history' | 'signals', more: Record<string, string> = {}) {
  const service = startHighwater(['serve', what], { env: { ...env, ...more } })
  const [, url = ''] = await service.prints(new RegExp(`^${what} service on (http://\\S+)$`, 'm'))
  return { ...service, url }
}

const inWorld = (args: readonly string[], more: Record<string, string> = {}) =>
  run(args, { env: { ...env, ...more }, now: () => Date.now() })

const readJson = async (url: string, headers: Record<string, string> = {}): Promise<unknown> => {
  const response = await fetch(url, { headers })
  expect([url, response.status]).toEqual([url, 200])
  return response.json()
}

test('every file of a store of release 0.1.0 is as published, its back-dated history is named as one, and so is the release that made it', async () => {
  const verified = await inWorld(['verify-store', '--json'])
  const { checks } = report.parse(JSON.parse(verified.out))
  expect(checks.find(({ check }) => check === 'files')?.told).toMatch(/objects, all as published$/)
  const faults = checks.flatMap(each => each.faults.map(({ told }) => `${each.check}: ${told}`))
  expect([verified.code, faults]).toEqual([
    1,
    [
      expect.stringMatching(
        /^clock: .*strategies\.json says that \w+ \(and \d+ more\) is published since 2024-03-01T00:15:00Z, and no entry of the log is of that time: the first is of 2026-11-24T16:52:24Z; the next version that is built corrects it$/,
      ),
    ],
  ])
  const doctor = await inWorld(['doctor', '--read-only', '--json'])
  expect(doctor.out).toContain(`${VERSION} was built with highwater 0.1.0: manifest 1, snapshot 1;`)
})

test('a store of release 0.1.0 is served, continued without a restatement, and rolled back to its own version, which stays as it was', async () => {
  const service = await serve('history')
  const expectServed = async () => {
    const file = await fetch(service.url + PINNED)
    expect(await file.text()).toBe(await readFile(join(folder, 'store', `${PINNED}.json`), 'utf8'))
    for (const path of [
      '/v1/strategies',
      '/v1/strategies/ash/stats?risk_pct=0.01',
      '/v1/correlation?ids=ash,elm',
      '/v1/export?from=2024-02-01',
    ])
      expect(await readJson(service.url + path)).toMatchObject({ meta: { dataset_version: VERSION } })
  }
  await expectServed()

  const args = [
    'build',
    '--book',
    join(folder, 'book'),
    '--allow-stale',
    '--version',
    NEWER,
    '--effort',
    'quick',
  ]
  const built = await inWorld(args)
  expect([built.code, built.err]).toEqual([0, expect.not.stringContaining('restate')])
  await service.prints(new RegExp(`swapped ${VERSION} for ${NEWER}`))
  const versions = await inWorld(['versions', '--json'])
  expect(JSON.parse(versions.out)).toMatchObject([
    { version: NEWER, is_served: true, history_restated: false },
    { version: VERSION, is_served: false },
  ])
  expect(await inWorld(['verify-store'])).toMatchObject({ code: 0 })
  expect(await inWorld(['rollback', VERSION])).toMatchObject({ code: 0, err: '' })
  await service.prints(new RegExp(`swapped ${NEWER} for ${VERSION}`))
  await expectServed()
})

test('a backup of release 0.1.0 is restored: its client pulls its signal with its key', async () => {
  const signals = { SECRET_KEY, REDIS_URL: (await ownRedis()).url, SIGNALS_PORT: '0', OPERATOR_PORT: '0' }
  await cp(join(FIXTURE, 'signals.jsonl'), join(folder, 'signals.jsonl'))
  const restored = await inWorld(['ops', 'restore', join(folder, 'signals.jsonl')], signals)
  expect(restored).toMatchObject({ code: 0 })
  const { url } = await serve('signals', signals)
  const pulled = await readJson(`${url}/v1/signals/history?since=0`, { 'X-API-Key': CLIENT_KEY })
  expect(
    z.object({ data: z.array(z.looseObject({ signal_id: z.string() })) }).parse(pulled).data,
  ).toMatchObject([{ signal_id: 'ash-example-1', action: 'long' }])
})
