// The client of the demonstration, on a real Redis: it always has a key that works, and the operator's word holds.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startDemo } from '#cli/services/demo.ts'
import { authenticate, issueKey, listKeys } from '#signals/clients/api-keys.ts'
import { entitleClient, findClient } from '#signals/clients/clients.ts'
import { saveWebhook } from '#signals/outbox/webhooks.ts'
import { BOX, BY_OPERATOR } from '../../support/signals/delivery.ts'
import { NOW_MS, PROGRAM_ALIAS, seededBytes } from '../../support/signals/signals.ts'
import { registerParts } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

useRedis()

const random = seededBytes('demo')

const start = (dataFolder: string) =>
  startDemo({
    redis,
    registering: registerParts(redis, () => NOW_MS),
    programAlias: PROGRAM_ALIAS,
    aliases: ['alder'],
    dataFolder,
    signalsUrl: 'http://127.0.0.1:9',
    now: () => NOW_MS,
    drawBytes: random,
    hasReceiver: false,
    print: () => {},
  })

const isLive = async (token: string): Promise<boolean> => (await authenticate(redis, token, NOW_MS)) !== null

test('the demonstration makes an active client once, which may see everything that is served then, and leaves it as the operator has made it', async () => {
  const folder = await temporaryFolder()
  const { client } = await start(folder)
  const made = { status: 'active', aliases: ['alder'], program: true }
  expect(await findClient(redis, client)).toMatchObject(made)
  await entitleClient(redis, client, { aliases: ['birch'], program: false }, PROGRAM_ALIAS)
  await start(folder)
  expect(await findClient(redis, client)).toMatchObject({ aliases: ['birch'], program: false })
})

test('the demonstration keeps its key; if two are live and its file is lost, the older one makes room', async () => {
  const folder = await temporaryFolder()
  const { client, token: first } = await start(folder)
  expect((await start(folder)).token).toBe(first)
  const { token: second } = await issueKey(redis, client, random, NOW_MS + 1)
  await rm(join(folder, 'demo/key'))
  const { token: third } = await start(folder)
  expect(await Promise.all([first, second, third].map(isLive))).toEqual([false, true, true])
  expect(await listKeys(redis, client)).toHaveLength(2)
})

test('the demonstration without a receiver leaves no webhook that points to an earlier one', async () => {
  const folder = await temporaryFolder()
  const { client } = await start(folder)
  await saveWebhook(redis, BOX, { destination: client, url: 'http://127.0.0.1:9/', secrets: [] }, BY_OPERATOR)
  expect((await start(folder)).hasReceiver).toBe(false)
  expect(await redis.exists(`{hw}:webhook:${client}`)).toBe(0)
})
