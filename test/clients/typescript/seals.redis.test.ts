// Receipts and the client that checks them, beside a service and a chain of seals.
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { sealNumber } from '#core/contract/seals.ts'
import { commit } from '#signals/log/commit.ts'
import { batchSalt, itemSalt } from '#storage/seals/seal.ts'
import {
  checkSeals,
  HighwaterSignals,
  type SealState,
  type SealsOptions,
} from '../../../clients/typescript/src/index.ts'
import { start } from '../../support/http/raw-server.ts'
import { receiptsOf, sealCases, startSealed } from '../../support/signals/sealed-chain.ts'
import { addClient, fire, NOW_MS, seededBytes, signalContent } from '../../support/signals/signals.ts'
import { createTestSignals, signalsParts, withKey } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { rejection } from './watched-service.ts'

useRedis()
afterEach(() => void vi.useRealTimers())

test.each(await sealCases())(
  'the TypeScript client judges $name',
  async ({ receipts, delivered, objects, state, says }) => {
    const read = async (name: string) => (objects[name] === undefined ? null : Buffer.from(objects[name]))
    const texts = new Map(Object.entries(delivered).map(([seq, text]) => [Number(seq), text]))
    const checked = checkSeals(receipts, texts, read, state)
    if (typeof says === 'string')
      expect(await rejection(checked)).toMatchObject({ code: 'seal_mismatch', message: says })
    else expect(await checked).toMatchObject({ checked_seq: says[0], head: { n: says[1] } })
  },
)

test('what a client reads of the chain is the same whichever seal has a signal of a day, or since the last check', async () => {
  const cases = await sealCases()
  const caseOf = (name: string) => cases.find(each => each.name === name)!
  const { objects, receipts } = caseOf('a signal that six seals do not have')
  const { head } = caseOf('a check that goes on from another day').state
  const readsOf = async (seals: readonly number[], state: object) => {
    const all = seals.map(async n => {
      const names: string[] = []
      const read = async (name: string) => {
        names.push(name)
        return Buffer.from(objects[name]!)
      }
      const made = checkSeals([{ ...receipts[0]!, n }], new Map(), read, { checked_seq: 0, ...state })
      await made.catch(() => {}) // it is in one of them only
      return names.join(' ')
    })
    return [...new Set(await Promise.all(all))]
  }
  const today = [11, 10, 9, 8, 7, 6, 5, 4].map(n => (n === 11 ? 'head' : sealNumber(n))).join(' ')
  const key = Object.keys(objects).find(name => name.startsWith('keys/'))
  expect(await readsOf([2, 3, 4, 8, 11, 12], { head })).toEqual([`${today} days/2026-11-20`])
  expect(await readsOf([4, 5, 8, 10], {})).toEqual([`${today} ${key}`])
  expect(await readsOf([1, 2, 3], {})).toEqual([`${today} days/2026-11-20 ${key}`])
})

const ANSWER = z.object({
  data: z.array(z.unknown()).optional(),
  meta: z.unknown(),
  links: z.record(z.string(), z.string()).optional(),
})

/** A service with a client of alder, its chain, and six signals of which the client sees 1, 4, 5 and 6. */
async function serveSealed() {
  const sealed = await startSealed(redis)
  const { app } = createTestSignals(redis, sealed.changes)
  const { url } = await start(app.fetch)
  const { token } = await addClient(redis, 'acme', ['alder'], seededBytes('client'))
  await addClient(redis, 'other', ['birch'], seededBytes('other'))
  await fire(redis, 'one', 'alder')
  await fire(redis, 'two', 'birch')
  await fire(redis, 'three', 'alder', 'other')
  await fire(redis, 'four', 'alder', 'acme')
  await commit(
    redis,
    [{ content: signalContent('{five"]\\', { why: 'stop', action: 'flat' }), onlyFor: null }],
    NOW_MS,
  )
  await fire(redis, 'six', 'alder')
  const ask = async (query = '') => {
    const response = await app.request(`/v1/signals/seals${query}`, withKey(token))
    return { status: response.status, body: ANSWER.parse(await response.json()) }
  }
  return { ...sealed, historyUrl: sealed.url, url, token, ask }
}

test('receipts are of the sealed signals that a client sees, ascending, and have nothing of those of others', async () => {
  const { chain, historyUrl, seal, ask, token } = await serveSealed()
  const nothing = { data: [], meta: { count: 0, last_seq: 0 }, links: { seals: `${historyUrl}/v1/seals/` } }
  expect((await ask()).body).toMatchObject(nothing)
  await seal(1, 2, 3)
  await seal()
  await seal(4, 5)
  const { body } = await ask()
  const mine = receiptsOf(chain).filter(({ seq }) => seq === 1 || seq > 3)
  expect(body).toMatchObject({ data: mine, meta: { count: 3, last_seq: 5 } })
  expect(body.links?.next).toBeUndefined()
  const pages = [await ask('?limit=2'), await ask('?since=4&limit=2')]
  expect(pages.map(({ body: { data, links } }) => [data?.length, links?.next])).toEqual([
    [2, '/v1/signals/seals?limit=2&since=4'],
    [1, undefined],
  ])
  const { day_key, items } = chain.all[0]!.record
  const others = [1, 2].map(i => itemSalt(day_key, items[i]!, 1, i))
  for (const secret of [day_key, ...others, batchSalt(day_key, 2)])
    expect(JSON.stringify(body)).not.toContain(secret)
  expect((await ask('?limit=1000')).status).toBe(422)
  const settings = { ...signalsParts(redis).parts.settings, historyBaseUrl: null }
  const alone = await createTestSignals(redis, { settings }).app.request(
    '/v1/signals/seals?since=5',
    withKey(token),
  )
  expect(await alone.json()).toMatchObject({ data: [], links: { self: '/v1/signals/seals?since=5' } })
  await chain.privateStore.remove('seals/000000001.json')
  expect((await ask()).status).toBe(500)
})

/** Follows the log, 12 minutes from pull to pull, until a check is over or it ends, and gives what it yielded and why it ended. */
async function follow(url: string, key: string, seals: SealsOptions | false, since: number, pulls = 1_000) {
  const controller = new AbortController()
  let [left, asked] = [pulls, 0]
  const live = new HighwaterSignals(url, {
    key,
    seals: seals && {
      ...seals,
      onCheck(state, error) {
        seals.onCheck?.(state, error)
        left = state.fault === undefined ? 0 : left
      },
    },
    async fetch(address, init) {
      if (address.endsWith('/v1/signals/head')) {
        vi.setSystemTime(Date.now() + 721_000)
        if (--left < 0) controller.abort(new Error('enough'))
      }
      if (address.includes('/v1/signals/seals')) asked++
      return fetch(address, init)
    },
  })
  const seqs: number[] = []
  const reading = async () => {
    for await (const { seq } of live.signals({ since, everySeconds: 0, signal: controller.signal }))
      seqs.push(seq)
  }
  const message = String(await rejection(reading())).replace(/^\w+: /, '')
  return { live, seqs, message, asked }
}

test('a client that follows the log checks what it was given every 12 minutes, keeps what it knows, and repeats a mismatch until it is given another state', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { hidden, url, token, seal } = await serveSealed()
  await seal(1, 2, 3)
  await seal(4, 5)
  const kept: SealState[] = []
  const onCheck = (state: SealState) => kept.push(state)
  const first = await follow(url, token, { onCheck }, 0)
  expect(first).toMatchObject({ seqs: [1, 4, 5, 6], message: 'enough' })
  expect(kept[0]).toMatchObject({ checked_seq: 5, head: { n: 2 }, waiting: { seq: 6, n: 2 } })
  await seal(6)
  const state = await first.live.checkSeals()
  expect([state, state.waiting]).toMatchObject([{ checked_seq: 6, head: { n: 3 } }, undefined])
  const message = 'seal 3 is missing: withheld or removed'
  await seal()
  for (const name of [sealNumber(3), 'days/2026-11-20']) hidden.add(name)
  expect(await follow(url, token, { onCheck, state }, 0)).toMatchObject({ seqs: [1, 4, 5, 6], message })
  hidden.clear()
  expect(kept.at(-1)).toEqual({ ...state, fault: message })
  const after = await follow(url, token, { onCheck, state: kept.at(-1) }, 5)
  expect(after).toMatchObject({ seqs: [6], message })
  expect(await rejection(after.live.checkSeals())).toMatchObject({ code: 'seal_mismatch', message })
  const cleared = await follow(url, token, { onCheck }, 5)
  expect([cleared.message, kept.at(-1)]).toMatchObject(['enough', { checked_seq: 6, head: { n: 4 } }])
  const idle = await follow(url, token, { onCheck }, 6)
  expect([idle.seqs, kept.at(-1)]).toMatchObject([[], { checked_seq: 6, head: { n: 4 } }])
  for await (const { seq } of first.live.signals({ since: 0 })) {
    const slow = new HighwaterSignals(url, { key: token })
    await slow.signals({ since: seq - 1 }).next()
    expect(await slow.checkSeals()).toMatchObject({ checked_seq: seq })
  }
})

test('a client that cannot check goes on with the signals and says why, one with an address asks there, and one with checks turned off asks for no receipt', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { url, token } = await serveSealed()
  const whole = { seqs: [1, 4, 5, 6], message: 'enough' }
  const firstError = async (seals: SealsOptions) => {
    const errors: unknown[] = []
    expect(
      await follow(url, token, { ...seals, onCheck: (_, error) => errors.push(error) }, 0),
    ).toMatchObject(whole)
    return errors[0]
  }
  expect(await firstError({})).toMatchObject({ code: 'not_published' })
  expect(await follow(url, token, false, 0, 3)).toMatchObject({ ...whole, asked: 0 })
  const { url: history } = await start(() =>
    Response.json({ error: { code: 'elsewhere', message: '' } }, { status: 400 }),
  )
  expect(await firstError({ history })).toMatchObject({ code: 'elsewhere' })
})
