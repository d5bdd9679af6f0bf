// Who may what: every route under every state of a key, and under every entitlement of a client.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { SignalsGroup } from '#api/signals/exchange.ts'
import { WRONG_KEY_MS } from '#api/signals/identify.ts'
import { STATUS_OF } from '#core/contract/errors.ts'
import { confirmKey, issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { entitleClient, suspendClient } from '#signals/clients/clients.ts'
import { createToken } from '#signals/clients/token.ts'
import { casesOf } from '../../support/cases-of.ts'
import { addClient, fire, NOW_MS, PROGRAM_ALIAS, seededBytes } from '../../support/signals/signals.ts'
import { createTestSignals, pathOf, requestOf, withKey } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { ROUTES_IN_TURN, refusalOf, seqsOf } from './keyed-answers.ts'

let made: ReturnType<typeof createTestSignals>
useRedis()
beforeAll(() => {
  made = createTestSignals(redis)
})
beforeEach(() => {
  made.clock.ms += WRONG_KEY_MS + 1 // a key that was wrong in the test before is looked up again
})

type Owner = { readonly id: string; readonly token: string; readonly keyId: string }

type Verdict = 'unauthorized' | 'account_not_active' | 'not_entitled' | 'conflict' | 'ok'

/** Routes that need a key, by what they need. */
type Keyed = Exclude<SignalsGroup, 'open' | 'preview'>

type KeyState = readonly [
  name: string,
  /** Brings the key of the client into the state, and returns what is sent. */
  arrange: (owner: Owner) => Promise<string | null>,
  /** What routes of an access answer; those of the program to a client that has it. */
  verdict: { readonly [Access in Keyed]: Verdict },
  /** What confirming answers, where that is another thing. */
  confirming?: Verdict,
]

const random = seededBytes('authorisation')
const ID_BYTES = random(6)

/** Random bytes with always the same id, and another secret. */
const sameId = (seed: string) => {
  const secret = seededBytes(seed)
  return (size: number) => (size === ID_BYTES.length ? ID_BYTES : secret(size))
}

const STRANGER = { key: 'unauthorized', account: 'unauthorized', program: 'unauthorized' } as const
const WELCOME = { key: 'ok', account: 'ok', program: 'ok' } as const
const issue = ({ id }: Owner) => issueKey(redis, id, random, NOW_MS)

/** The key of an owner who has got a new one, and the new one. */
async function renew(owner: Owner, isConfirmed = false) {
  const fresh = await issue(owner)
  if (isConfirmed) await confirmKey(redis, fresh.id, NOW_MS)
  return { old: owner.token, fresh: fresh.token }
}

const WAITING = { key: 'ok', account: 'account_not_active', program: 'ok' } as const

const STATES = casesOf<KeyState>`
absent -> ${async () => null} -> ${STRANGER}
empty -> ${async () => ''} -> ${STRANGER}
malformed -> ${async () => 'a key of mine'} -> ${STRANGER}
of a wrong checksum -> ${async ({ token }: Owner) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')} -> ${STRANGER}
of an unknown id -> ${async () => createToken(seededBytes('unknown')).token} -> ${STRANGER}
of a wrong secret -> ${async () => createToken(sameId('guess')).token} -> ${STRANGER}
sent twice -> ${async ({ token }: Owner) => `${token}, ${token}`} -> ${STRANGER}
revoked -> ${({ token, keyId }: Owner) => revokeKey(redis, keyId).then(() => token)} -> ${STRANGER}
of a pending client -> ${({ id, token }: Owner) => suspendClient(redis, id).then(() => token)} -> ${WAITING}
of an active client -> ${async ({ token }: Owner) => token} -> ${WELCOME}
new, not confirmed yet -> ${async (owner: Owner) => (await renew(owner)).fresh} -> ${WELCOME}
old, while the new one is not confirmed -> ${async (owner: Owner) => (await renew(owner)).old} -> ${WELCOME} -> conflict
new, confirmed -> ${async (owner: Owner) => (await renew(owner, true)).fresh} -> ${WELCOME}
old, after the new one was confirmed -> ${async (owner: Owner) => (await renew(owner, true)).old} -> ${STRANGER}`

/** What the log holds, by number: alias, or the client that a test is for. */
const LOG = ['alder', 'birch', 'test:acme', 'alder', 'cedar', 'test:other', 'birch'] as const

const ENTITLEMENTS = [
  { aliases: [], program: false, sees: [3] },
  { aliases: ['alder'], program: false, sees: [1, 3, 4] },
  { aliases: ['birch', 'elm'], program: true, sees: [2, 3, 7] },
  { aliases: ['alder', 'birch', 'cedar'], program: true, sees: [1, 2, 3, 4, 5, 7] },
] as const

async function fill(): Promise<void> {
  for (const [i, what] of LOG.entries()) {
    const only = what.startsWith('test:') ? what.slice(5) : null
    await fire(redis, `s${i}`, only === null ? what : 'alder', only)
  }
}

const verdictOf = (access: SignalsGroup, verdict: KeyState[2], program: boolean): Verdict => {
  if (access === 'open' || access === 'preview') return 'ok'
  if (access === 'program' && verdict.program === 'ok' && !program) return 'not_entitled'
  return verdict[access]
}

/** The states of a client are tried with each entitlement, and those of its key with all of them at once. */
const CASES = STATES.flatMap(([name, arrange, verdict, confirming]) =>
  ENTITLEMENTS.slice(name.endsWith('client') ? 0 : -1).map(entitled => ({
    ...{ name, arrange, verdict, confirming, ...entitled },
  })),
)

test.each(CASES)(
  'a key that is $name, of a client with the strategies $aliases and program $program, opens just its routes',
  async ({ arrange, verdict, confirming, aliases, program, sees }) => {
    await addClient(redis, 'other', ['alder', 'birch', 'cedar'], random)
    const owner = await addClient(redis, 'acme', aliases, sameId('the key'))
    await entitleClient(redis, 'acme', { program }, PROGRAM_ALIAS)
    await fill()
    const token = await arrange(owner)
    const { app, errors } = made
    for (const route of ROUTES_IN_TURN) {
      const { id, path, group } = route
      const response = await app.request(pathOf(route, 'default', 3), requestOf(route, token))
      const usual = verdictOf(group, verdict, program)
      const expected = id === 'confirm_key' && usual === 'ok' ? (confirming ?? 'ok') : usual
      expect([path, response.status]).toEqual([
        path,
        expected === 'ok' ? (route.statuses?.[0] ?? 200) : STATUS_OF[expected],
      ])
      if (expected !== 'ok') expect((await refusalOf(response)).code).toBe(expected)
      else if (id === 'history') expect(await seqsOf(response)).toEqual(sees)
      else if (id === 'latest') expect(await response.json()).toMatchObject({ data: { seq: sees.at(-1) } })
      else if (id === 'head')
        expect(await response.json()).toMatchObject({
          data: { seq: sees.at(-1), log_seq: sees.at(-1) },
        })
      else if (id === 'account')
        expect(await response.json()).toMatchObject({ data: { entitled: sees.length, missing: sees } })
      else if (id === 'whoami') {
        const entitlements = { aliases, [PROGRAM_ALIAS]: program }
        expect(await response.json()).toMatchObject({ client_id: 'acme', entitlements })
      }
    }
    expect(errors).toEqual([])
  },
)

test('activation, entitlement and revocation by the operator hold from the next request on', async () => {
  const { token, keyId } = await addClient(redis, 'acme', ['alder'], random)
  await fill()
  const { app } = made
  const pull = () => app.request('/v1/signals/history', withKey(token))
  expect(await seqsOf(await pull())).toEqual([1, 3, 4])
  await entitleClient(redis, 'acme', { aliases: ['birch'] }, PROGRAM_ALIAS)
  expect(await seqsOf(await pull())).toEqual([2, 3, 7])
  await suspendClient(redis, 'acme')
  expect((await pull()).status).toBe(403)
  await revokeKey(redis, keyId)
  expect((await pull()).status).toBe(401)
})
