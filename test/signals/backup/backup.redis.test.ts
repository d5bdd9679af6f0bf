// The drill: back up, lose everything, restore, go on. And new keys for old secrets.
import { createHash, type Hash, type Hmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { BackupError, type RestoreParts, restoreBackup } from '#signals/backup/restore-backup.ts'
import { backupLines, createMac } from '#signals/backup/write-backup.ts'
import { authenticate, listKeys } from '#signals/clients/api-keys.ts'
import { entitleClient } from '#signals/clients/clients.ts'
import { commit } from '#signals/log/commit.ts'
import { guardLog, LogGoneError } from '#signals/log/guard.ts'
import { MARK_AHEAD } from '#signals/log/high-water.ts'
import { newestVisible, readAfter, readHead } from '#signals/log/read-log.ts'
import { readAttempts, readDeliveries, readOutbox } from '#signals/outbox/outbox.ts'
import { rekeyWebhooks, sealFault } from '#signals/outbox/rekey.ts'
import { createSecretBox, newestKey, parseKeyRing, SealError } from '#signals/outbox/secret-box.ts'
import { endpointsOf, readWebhook, removeWebhook, setSettings } from '#signals/outbox/webhooks.ts'
import { readProfile, saveProfile } from '#signals/program/profile.ts'
import {
  EPOCH,
  FLIGHT_PREFIX,
  LOG,
  liveKey,
  PREFIX,
  PREVIEW_LIMIT_PREFIX,
  RELAY_LEASE,
  RELAYED,
  webhookKey,
} from '#signals/redis/keys.ts'
import { readAllClients } from '#signals/views/overview.ts'
import { addEndpoint, addSubscriber, BOX, owedCount, relayAll } from '../../support/signals/delivery.ts'
import { setWebhook, testBox, testRing } from '../../support/signals/operator.ts'
import { playScene } from '../../support/signals/operator-scene.ts'
import { addClient, fire, NOW_MS, seededBytes, signalContent } from '../../support/signals/signals.ts'
import { redis, server, useRedis } from '../../support/signals/test-redis.ts'

useRedis()

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

const restore = (lines: readonly string[], more: Partial<RestoreParts> = {}) =>
  restoreBackup({
    redis,
    lines: () => from(lines),
    highWater: 0,
    newEpoch: () => 'epoch-2',
    nowMs: NOW_MS,
    isForced: false,
    ring: testRing(),
    ...more,
  })

/** Backs up, and does something after each line. */
async function backUp(meanwhile: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const lines: string[] = []
  for await (const line of backupLines(redis, testRing(), NOW_MS)) {
    lines.push(line)
    await meanwhile()
  }
  return lines
}

/** Plays the scene, and backs it up. */
async function backUpScene(): Promise<string[]> {
  await playScene(redis)
  return backUp()
}

/** What the operator and the clients see. */
const seen = async () => ({
  log: await readAfter(redis, 0, 100),
  clients: (await readAllClients(redis))[0],
  keys: await listKeys(redis, 'acme-capital'),
  webhook: await readWebhook(redis, testBox(), 'acme-capital'),
  newest: await newestVisible(redis, { id: 'zeta', aliases: ['alder'] }),
  profile: await readProfile(redis, 'zeta'),
})

const expectSignals = async (count: number): Promise<void> =>
  expect(await readAfter(redis, 0, 100)).toHaveLength(count)

test('a restored backup has everything but the counts of the preview, under a new epoch, and numbers go on above every delivered one', async () => {
  const { token } = await addClient(redis, 'zeta', ['alder'], seededBytes('zeta'))
  await playScene(redis)
  await saveProfile(redis, 'zeta', { equity_usd: 0.1 + 0.2 + 1, contribution_cadence_bars: 7 }, NOW_MS)
  await redis.set(`${PREVIEW_LIMIT_PREFIX}preview:203.0.113.7`, 1)
  const before = await seen()
  const lines = await backUp()
  expect(lines.join()).not.toContain('203.0.113.7')
  await fire(redis, 'after-the-backup', 'alder')
  await redis.flushall()

  const restored = await restore(lines, { highWater: 2_000_007 })
  expect(restored).toMatchObject({ signals: 6, seq: 2_000_007 + MARK_AHEAD, epoch: 'epoch-2', owed: 5 })
  expect(await seen()).toEqual(before)
  expect(await authenticate(redis, token, NOW_MS)).toMatchObject({ client: { id: 'zeta' } })
  expect(await readHead(redis)).toEqual({ seq: 2_000_007 + MARK_AHEAD, epoch: 'epoch-2' })
  expect(await owedCount(redis, 'north-ridge')).toBe(5)
  expect((await readOutbox(redis, 3)).get('north-ridge')).toMatchObject({ status: 'exhausted', attempts: 16 })
  expect(await readAttempts(redis, 3, 'north-ridge')).toHaveLength(16)
  expect(await fire(redis, 'new', 'alder')).toBe(2_000_008 + MARK_AHEAD)
  expect(await fire(redis, 'sig_2', 'alder')).toBe(2) // known as before: not fired a second time
})

test('a restored client has every endpoint as it was, with what each is owed, and each is removed by the name that it had', async () => {
  await addSubscriber(redis, 'acme', 'https://acme.example/hook')
  for (const endpoint of ['acme/a', 'acme/b'])
    await addEndpoint(redis, endpoint, `https://${endpoint}.example/`)
  await setSettings(redis, BOX, 'acme/a', {
    filter: ['birch'],
    expireAfterS: 60,
    headers: { 'x-tenant': 'blue' },
  })
  await setSettings(redis, BOX, 'acme/b', { isPaused: true })
  for (const [alias, onlyFor] of [
    ['alder', null],
    ['birch', null],
    ['alder', 'acme/b'],
    ['alder', 'acme/a'],
  ] as const)
    await fire(redis, `${alias} ${onlyFor}`, alias, onlyFor)
  await entitleClient(redis, 'acme', { aliases: ['alder', 'birch'] }, '')
  await relayAll(redis, () => NOW_MS)
  const state = async () =>
    Promise.all(
      ['acme', 'acme/a', 'acme/b'].map(async destination => [
        await readWebhook(redis, BOX, destination),
        await owedCount(redis, destination),
        (
          await readDeliveries(
            redis,
            [1, 2, 3, 4].map(seq => ({ seq })),
            [destination],
          )
        ).map(([delivery]) => delivery?.prev),
        await newestVisible(redis, { id: 'acme', aliases: ['alder'], sentTo: destination }),
        await newestVisible(redis, { id: 'acme', aliases: ['alder'] }),
      ]),
    )
  const before = await state()
  expect(before.map(([, owed, prevs]) => [owed, prevs])).toEqual([
    [2, [0, 1, undefined, undefined]],
    [2, [undefined, 0, undefined, 2]],
    [3, [0, 1, 2, undefined]],
  ])
  const lines = await backUp()
  await redis.flushall()
  await restore(lines)
  expect(await state()).toEqual(before)
  await removeWebhook(redis, 'acme/a')
  expect(await endpointsOf(redis, 'acme')).toEqual(['default', 'b'])
  expect(await redis.hget(RELAYED, 'test:acme/b')).toBe('3')
})

test('a restored log that is behind its outbox continues above the outbox', async () => {
  await playScene(redis)
  await redis.hset(
    `${PREFIX}:ledger:4000041`,
    'acme-capital',
    (await redis.hget(`${PREFIX}:ledger:1`, 'acme-capital'))!,
  )
  const lines = await backUp()
  await redis.flushall()
  expect(await restore(lines)).toMatchObject({ seq: 4_000_041 })
})

test('a signal fired while a backup is taken is whole in it or not at all: every delivery has its signal', async () => {
  await playScene(redis)
  let fired = 0
  const lines = await backUp(async () => {
    if (fired < 20) await fire(redis, `during_${fired++}`, 'alder')
  })
  await redis.flushall()
  const { signals, seq } = await restore(lines)
  expect((await readAfter(redis, 0, 1_000)).map(signal => signal.seq)).toEqual(
    Array.from({ length: signals }, (_, i) => i + 1),
  )
  expect(seq).toBe(1_000_006) // a million above the first line
  expect(await fire(redis, 'next', 'alder')).toBe(seq + 1)
})

test('a strategy that runs while a backup is taken stands in it where its signals end, so that no bar is decided twice', async () => {
  const runBar = (bar: number) =>
    commit(redis, [{ content: signalContent(`bar_${bar}`), onlyFor: null }], NOW_MS, {
      alias: 'alder',
      from: bar === 1 ? '' : String(bar - 1),
      to: String(bar),
      fields: {},
    })
  let bar = 1
  await runBar(bar)
  const lines = await backUp(() => runBar(++bar))
  await redis.flushall()
  const { signals } = await restore(lines)
  expect(await redis.hget(liveKey('alder'), 'cursor')).toBe(String(signals))
})

test('a restore that is killed while it deletes what was there leaves nothing that a service would begin with', async () => {
  await playScene(redis)
  const lines = await backUp()
  const dying = await server.connect()
  let unlinks = 0
  Object.assign(dying, {
    unlink: (...keys: string[]) =>
      ++unlinks === 1 ? redis.unlink(keys) : Promise.reject(new Error('killed')),
  })
  await expect(restore(lines, { redis: dying, isForced: true })).rejects.toThrow('killed')
  await expectSignals(6)
  await expect(guardLog(redis, 1_007, () => 'epoch-3')).rejects.toThrow(LogGoneError)
})

test('a restore is refused if there are signals, unless it is forced, and then nothing else is left, and while a service is running, forced or not', async () => {
  const lines = await backUpScene()
  await fire(redis, 'later', 'alder')
  await expect(restore(lines)).rejects.toThrow('--force')
  await redis.set(RELAY_LEASE, 'somebody')
  await expect(restore(lines, { isForced: true })).rejects.toThrow('stop it first')
  await redis.del(RELAY_LEASE)
  await expectSignals(7)
  await restore(lines, { isForced: true })
  await expectSignals(6)
})

test.each([
  ['its end is missing', (lines: string[]) => lines.slice(0, -1)],
  ['a line is missing', (lines: string[]) => lines.toSpliced(3, 1)],
  ['a character is another', (lines: string[]) => lines.with(2, lines[2]!.replace(/[a-z](?=")/, 'Q'))],
  ['it is another file', () => ['{"a":1}', '{"b":2}']],
  ['it is empty', () => []],
])('a restore of a damaged backup is refused before anything is deleted: %s', async (_, spoil) => {
  const lines = spoil(await backUpScene())
  await expect(restore(lines, { isForced: true })).rejects.toThrow(BackupError)
  await expectSignals(6)
})

/** The end of a backup whose records are these, with any digest. */
function ended(lines: readonly string[], hash: Hash | Hmac): string[] {
  for (const line of lines) hash.update(`${line}\n`)
  const end = { type: 'end', records: lines.length - 1, hmac_sha256: hash.digest('hex') }
  return [...lines, JSON.stringify(end)]
}

const signed = (lines: readonly string[]) => ended(lines, createMac(newestKey(testRing())[1]))

test('a record that was put into a backup is refused, with the checksum computed again and without the key', async () => {
  const [header = '', ...lines] = (await backUpScene()).slice(0, -1)
  const put = [header, JSON.stringify({ type: 'set', key: `${PREFIX}:halted`, value: ['*'] }), ...lines]
  await restore(signed(put), { isForced: true }) // as it would be with the key
  for (const hash of [createHash('sha256'), createMac(newestKey(testRing('k2'))[1])])
    await expect(restore(ended(put, hash), { isForced: true })).rejects.toThrow(
      'it was altered or damaged, or SECRET_KEY has another key under the id of its key',
    )
})

test('a backup is restored with any key of SECRET_KEY, and the refusal names the key that is missing', async () => {
  const lines = await backUpScene()
  const ring = new Map([...testRing('k2'), ...testRing()])
  const trusted = await restore(lines, { isForced: true, ring })
  expect(trusted).toMatchObject({ signals: 6 })
  await expect(restore(lines, { isForced: true, ring: testRing('k2') })).rejects.toThrow(
    'it was signed with the key k1, which SECRET_KEY lacks; add that key behind the newest',
  )
})

test('a backup of another format is refused, and the refusal says which release restores it', async () => {
  const [header = '', ...lines] = (await backUpScene()).slice(0, -1)
  const file = signed([header.replace('"format":2', '"format":1'), ...lines])
  await expect(restore(file, { isForced: true })).rejects.toThrow(
    'its first line is not of format 2; use another copy of it, or restore one of another format with the release',
  )
})

test.each(['session:1', 'x{hw}:client:a', LOG, EPOCH, `${FLIGHT_PREFIX}acme`])(
  'a backup with a record of the key %s, which no backup has, is refused before anything is deleted',
  async foreign => {
    const [header = '', ...lines] = (await backUpScene()).slice(0, -1)
    await redis.set('session:1', 'of another program')
    const put = [header, JSON.stringify({ type: 'string', key: foreign, value: 'x' }), ...lines]
    await expect(restore(signed(put), { isForced: true })).rejects.toThrow('a line is malformed')
    expect(await redis.get('session:1')).toBe('of another program')
    await expectSignals(6)
  },
)

test('a backup file that is exchanged after it was checked leaves nothing that a service would begin with', async () => {
  const whole = await backUpScene()
  const halted = JSON.stringify({ type: 'set', key: `${PREFIX}:halted`, value: ['*'] })
  const reads = [whole, whole.toSpliced(1, 0, halted)]
  const lines = () => from(reads.shift()!)
  await expect(restore([], { isForced: true, lines })).rejects.toThrow(BackupError)
  await expect(guardLog(redis, 1_007, () => 'epoch-3')).rejects.toThrow(LogGoneError)
})

const [old, only] = [testBox('k1'), testBox('k2')]
const both = createSecretBox(new Map([...testRing('k2'), ...testRing('k1')]), seededBytes('both'))

test('rekey seals everything under the newest key, and a second run finds nothing left to do', async () => {
  for (const id of ['acme', 'zeta']) await setWebhook(redis, id, `https://${id}.example.org/in`, old)
  const before = await readWebhook(redis, old, 'acme')
  await expect(rekeyWebhooks(redis, only)).rejects.toThrow(SealError)
  expect(await rekeyWebhooks(redis, both)).toEqual({ sealed: 2, untouched: 0, removed: 0 })
  expect(await rekeyWebhooks(redis, both)).toEqual({ sealed: 0, untouched: 2, removed: 0 })
  expect(await readWebhook(redis, only, 'acme')).toEqual({ ...before, stored: expect.any(Object) })
})

test('a webhook that no key opens is named, and removed only if that is asked', async () => {
  for (const [id, box] of [
    ['acme', old],
    ['zeta', only],
  ] as const)
    await setWebhook(redis, id, `https://${id}.example.org/in`, box)
  expect(await sealFault(redis, both)).toBeNull()
  expect(await sealFault(redis, only)).toMatch(/^the webhook of 'acme' cannot be read: .*the key k1, which/)
  const removing = { removesUnreadable: true }
  expect(await rekeyWebhooks(redis, only, removing)).toEqual({ sealed: 0, untouched: 1, removed: 1 })
  expect(await sealFault(redis, only)).toBeNull()
  const other = createSecretBox(
    parseKeyRing(`k2:${Buffer.alloc(32, 7).toString('base64')}`),
    seededBytes('x'),
  )
  expect(await sealFault(redis, other)).toContain('another key under its id')
  expect(await rekeyWebhooks(redis, other, removing)).toEqual({ sealed: 0, untouched: 0, removed: 1 })
})

test('rekey never brings back a secret that was rotated in the same moment', async () => {
  await setWebhook(redis, 'acme', 'https://acme.example.org/in', old)
  let isRotated = false
  const rotating = {
    ...both,
    open(sealed: string, context: { client: string; field: string }) {
      const text = both.open(sealed, context)
      // Sent before the script of rekey on the same connection, so it is there first.
      if (!isRotated)
        void redis.hset(
          webhookKey('acme'),
          'secrets',
          old.seal('["rotated"]', { client: 'acme', field: 'secrets' }),
        )
      isRotated = true
      return text
    },
  }
  expect(await rekeyWebhooks(redis, rotating)).toEqual({ sealed: 1, untouched: 0, removed: 0 })
  expect((await readWebhook(redis, only, 'acme'))?.secrets).toEqual(['rotated'])
})
