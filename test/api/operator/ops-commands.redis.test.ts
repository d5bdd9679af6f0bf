// `highwater ops` against the operator's interface and a real Redis: what it prints, and with which code it ends.
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { listenOperator } from '#api/operator/app.ts'
import type { RunningServer } from '#api/service/http-server.ts'
import { createAlerts } from '#signals/alerts.ts'
import { createHighWater } from '#signals/log/high-water.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { readWebhook } from '#signals/outbox/webhooks.ts'
import { liveKey, RELAY_CURSOR } from '#signals/redis/keys.ts'
import { createWebhookSecret } from '#signals/send/sign.ts'
import { openStore } from '#storage/open-store.ts'
import { run } from '../../cli/made-up.ts'
import { atEndOfFile } from '../../support/ends.ts'
import { operatorParts, secretKeyOf, setWebhook, TOKEN, testBox } from '../../support/signals/operator.ts'
import { addClient, fire, seededBytes } from '../../support/signals/signals.ts'
import { entryOf } from '../../support/signals/signals-process.ts'
import { redis, server, useRedis } from '../../support/signals/test-redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let operator: RunningServer

useRedis()
beforeAll(async () => {
  const clock = { now: () => Date.now(), elapsed: () => 0 }
  operator = await listenOperator(operatorParts(redis, { clock }), '127.0.0.1', 0)
  atEndOfFile(operator.close)
})

const ops = (args: readonly string[], env: Record<string, string> = {}) =>
  run(['ops', ...args], {
    env: {
      OPERATOR_URL: operator.url,
      OPERATOR_TOKEN: TOKEN,
      REDIS_URL: server.url,
      SECRET_KEY: secretKeyOf(),
      ...env,
    },
  })

/** A LIVE entry must be of now. */
const SIGNAL = entryOf('a', 'alder', { timestamp: '2026-11-21T00:00:00Z', mode: 'DRY_RUN' })

test('`ops clients` shows a client without its secrets, and lists all', async () => {
  await ops(['clients', 'add', 'acme', '--tier', 'pro', '--activate'])
  await ops(['clients', 'entitle', 'acme', '--add', 'alder,birch', '--program'])
  const left = await ops(['clients', 'entitle', 'acme', '--remove', 'birch', '--json'])
  expect(left.out).toContain('"program":true')
  await ops(['keys', 'issue', 'acme'])
  await ops(['webhook', 'set', 'acme', 'https://hooks.example.org/in'])
  const { out } = await ops(['clients', 'show', 'acme'])
  expect(out).toContain('url: https://hooks.example.org/in')
  expect(out).not.toMatch(/whsec_|hw_live_/)
  await ops(['clients', 'add', 'zeta'])
  const list = (await ops(['clients', 'list'])).out
  expect(list).toMatch(/^id +tier +status .*webhook enabled .*webhook breaker/)
  expect(list).toMatch(/acme +pro +active +alder .* true .* closed/)
  expect(list).toMatch(/zeta +standard +pending .* - /)
})

test('`ops webhook set` takes a secret as it is or from a file, not both, and does not print it', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const file = join(await temporaryFolder(), 'secret')
  const own = createWebhookSecret(seededBytes('its own'))
  await writeFile(file, `${own}\n`)
  const setting = ['webhook', 'set', 'acme', 'https://hooks.example.org/in']
  for (const brought of [
    ['--secret-file', file],
    ['--secret', own],
  ]) {
    const { code, out } = await ops([...setting, ...brought])
    expect([code, out.includes('whsec_')]).toEqual([0, false])
    expect((await readWebhook(redis, testBox(), 'acme'))?.secrets).toMatchObject([{ text: own }])
    await ops(['webhook', 'remove', 'acme'])
  }
  expect((await ops([...setting, '--secret', own, '--secret-file', file])).code).toBe(2)
})

test('`ops fire` prints every problem of a signal on a line of its own, with the nearest names', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const file = join(await temporaryFolder(), 'signal.json')
  await writeFile(file, JSON.stringify({ ...SIGNAL, alias: 'aldr', stop: 51_000 }))
  const { code, err } = await ops(['fire', file])
  expect(code).toBe(1)
  expect(err.split('\n').slice(0, 3)).toEqual([
    'highwater: refused (validation_error):',
    "  alias: expected the id of a strategy of the served dataset; did you mean 'alder'?",
    '  stop: the stop of a long must lie below signal_price',
  ])
  const shown = await ops(['clients', 'show', 'acne'])
  expect([shown.code, shown.err]).toEqual([1, expect.stringContaining("did you mean 'acme'?")])
})

test('`ops keys revoke` takes a leaked key as a whole, and never reports an unknown key as revoked already', async () => {
  const { token, keyId: key } = await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const { code, err } = await ops(['keys', 'revoke', 'acme'])
  expect([code, err]).toEqual([1, expect.stringContaining('expected the id of a key')])
  expect(err).not.toContain('refused already')
  expect((await ops(['keys', 'revoke', token])).out).toContain(`key id: ${key}`)
  expect((await ops(['keys', 'list', 'acme'])).out).not.toContain(key)
  expect((await ops(['keys', 'revoke', token])).err).toContain(`no live key '${key}': it is refused already`)
})

test('`ops fire` fires a file once however often, by hand what a live runner fires, and other commands show the signal and its deliveries', async () => {
  const file = join(await temporaryFolder(), 'signal.json')
  await writeFile(file, JSON.stringify(SIGNAL))
  await redis.hset(liveKey('alder'), { cursor: '1' })
  expect(await ops(['fire', file])).toMatchObject({ code: 1, err: expect.stringContaining('--by-hand') })
  expect((await ops(['fire', file, '--by-hand'])).out).toContain('seq: 1\n')
  expect((await ops(['fire', file, '--json'])).out).toContain('"repeated":true')
  expect((await ops(['signal', '1'])).out).toMatch(/alias: alder.*by: operator:operator\n/s)
  expect((await ops(['deliveries', '--status', 'owed'])).code).toBe(0)
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  expect((await ops(['account', 'acme', '--from', '1', '--to', '5'])).out).toMatch(
    /^from: 1\nto: 5\nentitled: 1\ndelivered: 0\nmissing: 1 \(#1\)\nowed: 0\n.*\nsha256: [0-9a-f]{64}\n$/s,
  )
  expect((await ops(['account', 'acme', '--json'])).out).toContain('"entitled":1')
  expect((await ops(['clients', 'show', 'acme'])).out).toContain(
    'latency:\n  deliveries: 0\n  first attempt ms: -\n  acknowledged ms: -\n',
  )
  expect((await ops(['status', '--json'])).out).toMatch(/"seq":1,.*"relay":\{"lag":1,"running":false\}/)
})

test('`ops test` with a token that may not read says so at once, with the number of the test', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await setWebhook(redis, 'acme', 'https://hooks.example.org/in')
  const { out: issued } = await ops(['tokens', 'add', 'desk', '--scopes', 'clients'])
  const { code, out } = await ops(['test', 'acme'], { OPERATOR_TOKEN: /hw_op_\S+/.exec(issued)?.[0] ?? '' })
  const says = expect.stringMatching(/^test 1 was fired; .* expected a token with the scope read/)
  expect([code, out]).toEqual([1, says])
})

test('a command that an alert or a refusal names is one that there is', async () => {
  const sent: string[] = []
  const { onEvent } = createAlerts(
    ({ message }) => sent.push(message),
    () => 0,
  )
  onEvent({ kind: 'exhausted', destination: 'acme', seq: 1 })
  onEvent({ kind: 'disabled', destination: 'acme', why: '410' })
  const named = sent.flatMap(message => /`highwater ops ([^`]+)`/.exec(message)?.[1] ?? [])
  expect(named).toEqual(['signal 1 acme', 'webhook enable acme'])
  for (const command of named) expect((await ops(command.split(' '))).err).toContain('(not_found)')
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  for (const refused of ['clients show nobody', 'keys confirm 0aZ3kQ9b']) {
    const { err } = await ops(refused.split(' '))
    const named = /`highwater ops ([^`]+)`/.exec(err)?.[1] ?? ''
    expect([named, (await ops(named.replace('CLIENT', 'acme').split(' '))).code]).toEqual([named, 0])
  }
})

test('`ops audit` prints a line an action, with what changed', async () => {
  await ops(['clients', 'add', 'acme', '--aliases', 'alder', '--activate'])
  await ops(['webhook', 'set', 'acme', 'https://hooks.example.org/in'])
  await fire(redis, 'a', 'alder')
  await ops(['replay', 'acme', '--from', '1'])
  await ops(['clients', 'suspend', 'acme'])
  await ops(['live', 'go-live', 'aldr'])
  const [head = '', ...lines] = (await ops(['audit'])).out.trimEnd().split('\n')
  expect(head).toMatch(/^number +at +who +action +about +outcome +what changed, or was asked for$/)
  expect(lines.map(line => line.replaceAll(/ {2,}/g, '  ').replace(/^(\d) {2}\S+/, '$1'))).toEqual([
    '5  operator  mode  aldr  validation_error  mode: LIVE',
    '4  operator  suspend  acme  done  account: active → suspended',
    '3  operator  replay  acme  done  from: 1',
    '2  operator  set_webhook  acme  done  webhook: none → enabled',
    '1  operator  add_client  acme  done  account: active; strategies: alder; tier: standard; program: no',
  ])
  expect((await ops(['audit', '--json'])).out).toContain('"before":{"tier":"standard","status":"active"')
})

test('a command of the operator that is refused ends with 1 and a sentence without the token', async () => {
  expect(await ops(['clients', 'show', 'nobody'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('(not_found)'),
  })
  const wrong = await ops(['status'], { OPERATOR_TOKEN: 'x'.repeat(40) })
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('(unauthorized)') })
  const nobody = await ops(['status'], { OPERATOR_URL: 'http://127.0.0.1:9' })
  expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('does not answer') })
  expect((await ops(['live', 'go-live', 'alder'])).err).toMatch(/has never run.*\(conflict\)/)
  expect(wrong.err + nobody.err).not.toMatch(new RegExp(`${TOKEN}|x{40}`))
})

test('a command of the operator that is called wrongly ends with 2', async () => {
  expect((await ops(['replay', 'acme'])).code).toBe(2)
  expect((await ops(['clients', 'dance'])).code).toBe(2)
  const file = join(await temporaryFolder(), 'signal.json')
  await writeFile(file, '{')
  expect((await ops(['fire', file])).code).toBe(2)
  for (const command of ['fire', 'restore'])
    expect(await ops([command, '/nonexist'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('/nonexist: there is no such file'),
    })
})

test('`ops replay` ends with 0 and a sentence if there is nothing to send again', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await setWebhook(redis, 'acme', 'https://hooks.example.org/in')
  expect(await ops(['replay', 'acme', '--from', '99999'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^nothing is sent again: from number 99999 on .* acme may see/),
  })
  await redis.set(RELAY_CURSOR, await fire(redis, 'a', 'alder'))
  expect((await ops(['replay', 'acme', '--from', '1'])).out).toContain('owed again: 1\n')
})

test('`ops backup` ends with 2 and names the file if its folder is not there', async () => {
  const file = join(await temporaryFolder(), 'no', 'signals.jsonl')
  const { code, err } = await ops(['backup', file])
  expect([code, err]).toEqual([2, expect.stringContaining('give a file in a folder that is there')])
})

test('`ops restore` brings everything back into an empty Redis; the next signal is a million above the backup, because the mark of a copied store is old', async () => {
  const folder = await temporaryFolder()
  const env = { PRIVATE_STORE_URL: `file://${folder}/private` }
  const file = join(folder, 'signals.jsonl')
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await fire(redis, 'a', 'alder')
  expect((await ops(['backup', file])).out).toContain(file)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const store = await openStore(env.PRIVATE_STORE_URL, { endpoint: null, region: '', credentials: null })
  await createHighWater(store).cover(1)
  expect(await ops(['restore', file], env)).toMatchObject({
    code: 1,
    err: expect.stringContaining('--force'),
  })
  await redis.flushall()
  expect((await ops(['restore', file], env)).out).toContain('the next signal is 1000002')
  expect((await readAfter(redis, 0, 9)).map(({ seq }) => seq)).toEqual([1])
  expect((await ops(['clients', 'show', 'acme'])).code).toBe(0)
  expect(await fire(redis, 'b', 'alder')).toBe(1_000_002)
})

test('`ops restore` refuses a backup that was cut, and no backup has a secret in the clear', async () => {
  const file = join(await temporaryFolder(), 'signals.jsonl')
  const { token } = await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const secret = await setWebhook(redis, 'acme', 'https://hooks.example.org/private-path')
  await ops(['backup', file])
  const text = await readFile(file, 'utf8')
  for (const hidden of [token, secret, 'private-path']) expect(text).not.toContain(hidden)
  await writeFile(file, text.slice(0, -40))
  expect(await ops(['restore', file, '--force'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('this backup cannot be restored'),
  })
  expect(await redis.dbsize()).toBeGreaterThan(0)
})

test('`ops rekey` seals what was sealed under an older key under the newest one', async () => {
  const [old, renewed] = [secretKeyOf('k1'), secretKeyOf('k2')]
  await setWebhook(redis, 'acme', 'https://hooks.example.org/in')
  const { out } = await ops(['rekey', '--json'], { SECRET_KEY: `${renewed},${old}` })
  expect(JSON.parse(out)).toEqual({ sealed: 1, untouched: 0, removed: 0 })
  expect((await readWebhook(redis, testBox('k2'), 'acme'))?.url).toBe('https://hooks.example.org/in')
})
