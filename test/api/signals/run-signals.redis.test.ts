// What the signals service prints for the operator when it starts, in this process and on a real Redis.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '#cli/services/free-port.ts'
import { type RunningSignals, runSignals } from '#cli/services/run-signals.ts'
import { parseEnvironment } from '#cli/settings/environment.ts'
import { createToken } from '#signals/clients/token.ts'
import { newPrivateKeyPem } from '#storage/signature.ts'
import { madeUp } from '../../cli/made-up.ts'
import { atEnd } from '../../support/ends.ts'
import { server, useOwnRedis } from '../../support/signals/own-redis.ts'
import { startReceiver } from '../../support/signals/receiver.ts'
import { addClient, seededBytes } from '../../support/signals/signals.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let running: RunningSignals | null = null
let logged: string[] = []

useOwnRedis()

/** Starts it with some variables; what it warned of. */
async function start(more: Record<string, string>, hasDemo = false): Promise<readonly string[]> {
  const dataFolder = await temporaryFolder()
  const ports = { SIGNALS_PORT: '0', OPERATOR_PORT: '0', LOG_LEVEL: 'silent' }
  const env = { REDIS_URL: server.url, ...ports, ...more }
  logged = []
  const logStream = { write: (line: string) => void logged.push(line) }
  const made = { env, drawBytes: seededBytes(dataFolder), now: () => Date.now(), logStream }
  const { runtime, err } = madeUp(made)
  const environment = parseEnvironment(env, join(dataFolder, 'data'))
  const started = await runSignals({ environment, runtime, hasDemo })
  atEnd(started.stop)
  running = started
  return err()
    .split('\n')
    .filter(line => line !== '')
}

test('the signals service prints a warning if webhooks may be on this machine, and nothing otherwise', async () => {
  const warned = await start({ ALLOW_PRIVATE_WEBHOOKS: 'yes' })
  expect(warned).toEqual([
    expect.stringMatching(/^WARNING: webhooks may be on this machine: ALLOW_PRIVATE_WEBHOOKS is on, for dev/),
  ])
  await running?.stop()
  expect(await start({})).toEqual([])
})

test('the signals service logs every request with its client, key and network, and every change of a webhook, which is also an alert', async () => {
  const redis = await server.connect()
  const { token, keyId } = await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const file = join(await temporaryFolder(), 'alerts')
  const more = { LOG_LEVEL: 'info', ALLOW_PRIVATE_WEBHOOKS: 'yes', ALERT_COMMAND: `cat >> ${file}` }
  const receiver = await startReceiver((_, response) => response.end())
  await start(more)
  const ask = (path: string, init: RequestInit) => fetch(`${running?.url}${path}`, init)
  await ask('/v1/whoami', { headers: { 'X-API-Key': createToken(seededBytes('guess')).token } })
  const body = JSON.stringify({ url: receiver.urlOf('hidden-path') })
  const headers = { 'X-API-Key': token, 'content-type': 'application/json' }
  expect((await ask('/v1/webhook?x=1', { method: 'PUT', headers, body })).status).toBe(200)
  const alerts = () => readFile(file, 'utf8').catch(() => '') // a busy machine may raise others
  const changed = new RegExp(`"kind":"webhook_changed",.*"message":"[^"]*with the key ${keyId}`)
  await expect.poll(alerts, { timeout: 20_000 }).toMatch(changed)
  await running?.stop()
  const lines = logged.map(line => JSON.parse(line) as Record<string, unknown>)
  const caller = { address: '127.0.0.1', keyId, client: 'acme' }
  expect(lines.filter(({ msg }) => msg !== 'something went wrong')).toMatchObject([
    { msg: 'request', route: '/v1/whoami', status: 401, keyId: expect.any(String), client: null },
    { msg: 'webhook', client: 'acme', endpoint: 'default', change: 'set', keyId },
    { msg: 'request', method: 'PUT', route: '/v1/webhook', status: 200, ...caller },
  ])
  for (const hidden of [token, 'hidden-path', 'x=1']) expect(logged.join('')).not.toContain(hidden)
})

test('the signals service shows a demo client without a receiver if the operator refuses such webhooks', async () => {
  const warned = await start({ ALLOW_PRIVATE_WEBHOOKS: 'no' }, true)
  expect(warned).toEqual([expect.stringContaining('the demo client has no receiver')])
  expect(running?.demo).toMatchObject({ client: 'demo', hasReceiver: false })
})

test('a signals service that listens on every address names itself by one that can be called', async () => {
  const SEAL_KEY_FILE = join(await temporaryFolder(), 'seal.pem')
  await writeFile(SEAL_KEY_FILE, newPrivateKeyPem(), { mode: 0o600 })
  const chosen = {
    OPERATOR_TOKEN: 'x'.repeat(40),
    SECRET_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    ...{ SEAL_SECRET: 's'.repeat(32), SEAL_KEY_FILE },
  }
  await start({ HOST: '0.0.0.0', ...chosen })
  const port = new URL(running?.url ?? '').port
  const document = await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).text()
  expect(document).toContain(`http://localhost:${port}`)
  expect(document).not.toContain('0.0.0.0')
})

test('the signals service rolls back as the command does, and says why it cannot', async () => {
  await start({ OPERATOR_TOKEN: 'x'.repeat(40) })
  const headers = { authorization: `Bearer ${'x'.repeat(40)}`, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: '{"version":"2020-01-01T00:00:00Z"}' }
  const answer = await fetch(`${running?.operatorUrl}/ops/rollback`, request)
  expect(await answer.text()).toMatch(/"conflict".*was never published in/)
})

test('the signals service watches the disk of a foreign Redis whose folder is named, and of no other', async () => {
  const used = async () => {
    const text = await (await fetch(`${running?.operatorUrl}/metrics`)).text()
    return /^highwater_redis_disk_used_ratio (\S+)$/m.exec(text)?.[1] ?? null
  }
  await start({ REDIS_FOLDER: server.folder })
  expect(Number(await used())).toBeGreaterThan(0)
  await running?.stop()
  await start({})
  expect(await used()).toBeNull()
})

test('the signals service does not start if the named folder of Redis is not there: it would never raise an alarm', async () => {
  const nowhere = join(server.folder, 'nowhere')
  await expect(start({ REDIS_FOLDER: nowhere })).rejects.toThrow(
    `REDIS_FOLDER: the folder ${nowhere} cannot be read`,
  )
})

test('a signals service that cannot reach its Redis says so in a sentence', async () => {
  const url = `redis://127.0.0.1:${await freePort()}`
  await expect(start({ REDIS_URL: url })).rejects.toThrow(
    /^Redis cannot be reached \(.+\): start it, or name it in REDIS_URL$/,
  )
})
