import { expect, test } from 'vitest'
import {
  activateClient,
  createClient,
  entitleClient,
  findClient,
  getClient,
  suspendClient,
} from '#signals/clients/clients.ts'
import { clientKey } from '#signals/redis/keys.ts'
import { readAllClients } from '#signals/views/overview.ts'
import { NOW_MS, PROGRAM_ALIAS } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

useRedis()

const ACME = {
  ...{ id: 'acme', tier: 'gold', status: 'pending', suspended: false, email: null },
  ...{ aliases: [], program: false, created_at: '2026-11-21T00:00:05Z' },
}

const createAcme = () => createClient(redis, 'acme', 'gold', NOW_MS)

const entitle = (change: Parameters<typeof entitleClient>[2]) =>
  entitleClient(redis, 'acme', change, PROGRAM_ALIAS)

test('a new client waits for its activation and is entitled to nothing', async () => {
  expect(await createAcme()).toEqual(ACME)
  expect(await getClient(redis, 'acme')).toEqual(ACME)
  expect((await readAllClients(redis))[0]).toEqual([ACME])
})

test('a client is created once: again after a lost reply it is the same one, and another under its id is refused and changes nothing', async () => {
  await createAcme()
  expect(await createAcme()).toEqual(ACME)
  const second = createClient(redis, 'acme', 'silver', NOW_MS + 60_000)
  await expect(second).rejects.toMatchObject({ code: 'conflict' })
  expect(await getClient(redis, 'acme')).toEqual(ACME)
})

test.each(['', 'Acme', '-acme', 'a b', 'a:b', 'é', 'a'.repeat(65)])(
  'a client or a tier cannot be called %j',
  async id => {
    await expect(createClient(redis, id, 'gold', NOW_MS)).rejects.toMatchObject({ code: 'validation_error' })
    await expect(createClient(redis, 'acme', id, NOW_MS)).rejects.toMatchObject({ code: 'validation_error' })
    expect((await readAllClients(redis))[0]).toEqual([])
  },
)

test('a client is activated, suspended and activated again', async () => {
  await createAcme()
  expect(await activateClient(redis, 'acme')).toEqual({ ...ACME, status: 'active' })
  expect(await suspendClient(redis, 'acme')).toEqual({ ...ACME, suspended: true })
  await createClient(redis, 'fresh', 'gold', NOW_MS)
  expect(await suspendClient(redis, 'fresh')).toMatchObject({ status: 'pending', suspended: false }) // never active
  expect(await findClient(redis, 'acme')).toEqual({ ...ACME, suspended: true })
  expect(await activateClient(redis, 'acme')).toEqual({ ...ACME, status: 'active' })
})

test('the mail address of a client is set and removed, and no other change touches it', async () => {
  await createAcme()
  expect(await entitle({ email: 'desk@example.org' })).toEqual({ ...ACME, email: 'desk@example.org' })
  expect(await entitle({ program: true })).toMatchObject({ email: 'desk@example.org' })
  expect(await activateClient(redis, 'acme')).toMatchObject({ email: 'desk@example.org' })
  expect(await entitle({ email: null })).toMatchObject({ program: true, email: null })
})

test('a client that does not exist cannot be changed, and is not created by trying', async () => {
  await expect(activateClient(redis, 'ghost')).rejects.toMatchObject({ code: 'not_found' })
  await expect(suspendClient(redis, 'ghost')).rejects.toThrow("no client 'ghost'")
  const entitled = entitleClient(redis, 'ghost', { program: true }, PROGRAM_ALIAS)
  await expect(entitled).rejects.toMatchObject({ code: 'not_found' })
  await expect(findClient(redis, 'ghost')).rejects.toMatchObject({ code: 'not_found' })
  expect(await getClient(redis, 'ghost')).toBeNull()
  expect(await redis.keys('*')).toEqual([])
})

test('the entitlements of a client are replaced, added to and taken from, sorted and without repetition', async () => {
  await createAcme()
  expect(await entitle({ aliases: ['birch', 'alder', 'birch'] })).toMatchObject({
    aliases: ['alder', 'birch'],
  })
  expect(await entitle({ add: ['cedar'], remove: ['alder'] })).toMatchObject({
    aliases: ['birch', 'cedar'],
  })
  expect(await entitle({ program: true })).toMatchObject({ aliases: ['birch', 'cedar'], program: true })
  expect(await entitle({ remove: ['elm'] })).toMatchObject({ aliases: ['birch', 'cedar'], program: true })
  expect(await entitle({ aliases: [], program: false })).toMatchObject({ aliases: [], program: false })
  expect(await getClient(redis, 'acme')).toEqual(ACME)
})

test('an entitlement is never the alias of the program, nor anything that cannot be an alias', async () => {
  await createAcme()
  for (const alias of [PROGRAM_ALIAS, 'Alder', '']) {
    for (const change of [{ aliases: [alias] }, { add: [alias] }]) {
      await expect(entitle(change)).rejects.toMatchObject({ code: 'validation_error' })
    }
  }
  expect(await getClient(redis, 'acme')).toEqual(ACME)
})

test('the entitlements of a client are at most 1000', async () => {
  await createAcme()
  const many = Array.from({ length: 1_001 }, (_, i) => `s${i}`)
  await expect(entitle({ aliases: many })).rejects.toThrow('1001 aliases')
  const { aliases } = await entitle({ aliases: many.slice(1) })
  expect(aliases).toHaveLength(1_000)
})

test('entitlements that several operators give at the same moment are all kept', async () => {
  await createAcme()
  const added = Array.from({ length: 8 }, (_, i) => `s${i}`)
  await Promise.all([...added.map(alias => entitle({ add: [alias] })), activateClient(redis, 'acme')])
  expect(await getClient(redis, 'acme')).toEqual({ ...ACME, status: 'active', aliases: added })
})

test('the list of clients is sorted and complete, and refused if a record is damaged', async () => {
  const ids = Array.from({ length: 1_203 }, (_, i) => `c${String(i).padStart(4, '0')}`)
  await Promise.all(ids.toReversed().map(id => createClient(redis, id, 'gold', NOW_MS)))
  expect((await readAllClients(redis))[0].map(({ id }) => id)).toEqual(ids)
  await redis.hset(clientKey('c0000'), 'status', 'maybe')
  await expect(readAllClients(redis)).rejects.toThrow('status')
})
