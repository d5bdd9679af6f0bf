// The page for subscribers in process, without scripts: who sees it, what ends a session, and that it is of one client alone.
import { beforeEach, expect, test } from 'vitest'
import { MOST_WRONG_TOKENS, WRONG_TOKEN_DELAY_MS } from '#api/service/guessing.ts'
import { createSignalsApp } from '#api/signals/app.ts'
import type { SignalsParts } from '#api/signals/exchange.ts'
import { ACCOUNT_FORMS } from '#api/signals/page/forms.ts'
import { VIEWS } from '#api/signals/page/views.ts'
import { issueKey, revokeKey } from '#signals/clients/api-keys.ts'
import { activateClient, suspendClient } from '#signals/clients/clients.ts'
import { digestOf } from '#signals/clients/token.ts'
import { drainDestination } from '#signals/delivery/deliver.ts'
import { issueToken, listOperators, mainOperator, revokeToken } from '#signals/operators/tokens.ts'
import { removeWebhook } from '#signals/outbox/webhooks.ts'
import { accountLinkKey, accountSessionsKey, HEAD, LOG } from '#signals/redis/keys.ts'
import { readOwnEndpoints } from '#signals/subscribers/endpoints.ts'
import { createLink, LINK_SECONDS, MOST_SESSIONS } from '#signals/subscribers/sessions.ts'
import { casesOf } from '../../support/cases-of.ts'
import { madeWorld, readDelivery, relayAll } from '../../support/signals/delivery.ts'
import { browserOn } from '../../support/signals/operator.ts'
import { settleAs } from '../../support/signals/operator-scene.ts'
import { addClient, fire, NOW_MS, seededBytes } from '../../support/signals/signals.ts'
import { signalsParts } from '../../support/signals/signals-app.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { storedOf } from './keyed-answers.ts'

const ORIGIN = 'http://signals.test'
const HOUR_MS = 3_600_000
const MAIN = mainOperator('the token of an operator')
const random = seededBytes('account page')

let acme: Awaited<ReturnType<typeof addClient>>

useRedis()
beforeEach(async () => {
  acme = await addClient(redis, 'acme', ['alder', 'birch'], random)
})

/** A browser on an app of its own, whose clock the test moves. */
function open(changes: Partial<SignalsParts> = {}) {
  const { parts: made, clock } = signalsParts(redis, changes)
  const parts = { ...made, registering: { ...made.registering, drawBytes: random } }
  const browser = browserOn(createSignalsApp(parts), ORIGIN)
  const logIn = (token: string) => browser.post('/account/login', { token })
  return { ...browser, logIn, clock, parts, isIn: async () => (await browser.get('/account')).status === 200 }
}

async function loggedIn(token = acme.token) {
  const browser = open()
  expect((await browser.logIn(token)).headers.get('location')).toBe('/account')
  return browser
}

test('a key logs in to the page for subscribers, with a cookie of this site and path alone that has no key, and a stranger is sent to the login', async () => {
  const page = open()
  const stranger = await page.get('/account/endpoints')
  expect([stranger.status, stranger.headers.get('location')]).toEqual([303, '/account/login'])
  const { headers } = await page.logIn(acme.token)
  const [value = '', ...attributes] = (headers.get('set-cookie') ?? '').split('; ')
  expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=115200', 'Path=/account', 'SameSite=Strict'])
  expect(value).not.toContain(acme.token)
  const behind = await page.post('/account/login', { token: acme.token }, { 'x-forwarded-proto': 'https' })
  expect(behind.headers.get('set-cookie')).toContain('; Secure')
  for (const path of Object.keys(VIEWS).map(path => path.replace(':seq', '1'))) {
    await fire(redis, path, 'alder')
    const shown = await page.get(path === '/account/why' ? `${path}?seq=1` : path)
    expect([path, shown.status, shown.headers.get('cache-control')]).toEqual([path, 200, 'no-store'])
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(shown.text.match(/<script[^>]*>/g)).toEqual(['<script src="/account/updates.js" defer>'])
  }
})

test('a link of an operator logs in once, of two posts one, for 15 minutes, and stands nowhere in Redis', async () => {
  const { token, expiresAtMs } = await createLink(redis, 'acme', MAIN, random, NOW_MS)
  expect(expiresAtMs).toBe(NOW_MS + 15 * 60_000)
  expect(await redis.ttl(accountLinkKey(digestOf(token)))).toBe(LINK_SECONDS)
  expect(
    JSON.stringify([await redis.keys('*'), await redis.get(accountLinkKey(digestOf(token)))]),
  ).not.toContain(token)
  const browsers = [open(), open()]
  const answers = await Promise.all(browsers.map(({ logIn }) => logIn(token)))
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 401])
  expect((await open().logIn(token)).text).toContain('This key or link is not valid')
  await suspendClient(redis, 'acme')
  await expect(createLink(redis, 'acme', MAIN, random, NOW_MS)).rejects.toThrow('ops clients activate acme')
})

test('wrong keys on the page for subscribers are delayed if they are too many of one address, and the right one never is', async () => {
  const pauses: number[] = []
  const page = open({ pause: async ms => void pauses.push(ms) })
  for (let i = 0; i < MOST_WRONG_TOKENS; i++) expect((await page.logIn(`hw_live_${i}`)).status).toBe(401)
  expect(pauses).toEqual([])
  expect([(await page.logIn('hw_link_x')).status, (await page.logIn(acme.token)).status]).toEqual([401, 303])
  expect(pauses).toEqual([WRONG_TOKEN_DELAY_MS])
})

const linkOf = async (name: string) => {
  const operator = name === MAIN.name ? MAIN : (await listOperators(redis)).find(each => each.name === name)!
  return (await createLink(redis, 'acme', operator, random, NOW_MS)).token
}

type Page = ReturnType<typeof open>

const ofKey = async () => acme.token
const ofShortKey = async () => (await issueKey(redis, 'acme', random, NOW_MS, NOW_MS + HOUR_MS)).token
const ofMain = () => linkOf(MAIN.name)
const ofJane = () => linkOf('jane')
const pass =
  (hours: number) =>
  ({ clock }: Page) =>
    (clock.ms = hours * HOUR_MS)
const revoke = () => revokeToken(redis, 'jane')
const suspend = () => suspendClient(redis, 'acme')
const issueAgain = () => issueToken(redis, 'jane', ['clients'], random, NOW_MS)

test.each(casesOf<[what: string, begin: () => Promise<string>, end: (page: Page) => unknown]>`
a key after eight hours -> ${ofKey} -> ${pass(8)}
a key that is revoked -> ${ofKey} -> ${() => revokeKey(redis, acme.keyId)}
a key at its end -> ${ofShortKey} -> ${pass(1)}
a link whose account is suspended -> ${ofMain} -> ${suspend}
a link whose account was suspended and is active again -> ${ofMain} -> ${() => suspend().then(() => activateClient(redis, 'acme'))}
a link of an operator whose token is revoked -> ${ofJane} -> ${revoke}
a link of an operator with another token of the same name -> ${ofJane} -> ${() => revoke().then(issueAgain)}`)(
  'a session of %s ends at once, and no other one of the client does',
  async (_, begin, end) => {
    await issueToken(redis, 'jane', ['clients'], random, NOW_MS)
    const page = await loggedIn(await begin())
    const other = await loggedIn((await issueKey(redis, 'acme', random, NOW_MS).catch(() => acme)).token)
    expect([await page.isIn(), await other.isIn()]).toEqual([true, true])
    const { csrf } = await page.get('/account/endpoints')
    await end(page)
    expect([await page.isIn(), await other.isIn()]).toEqual([false, true])
    expect((await page.post('/account/resend', { csrf, from: '1' })).status).toBe(401)
  },
)

test('a session on the page for subscribers ends with its logout, for a copy of its cookie too, with another OPERATOR_TOKEN, and as the oldest of too many', async () => {
  const page = await loggedIn()
  const copied = page.cookie()
  const { csrf } = await page.get('/account')
  expect((await page.post('/account/logout', { csrf: `${csrf}x` })).status).toBe(403)
  await page.post('/account/logout', { csrf })
  const app = createSignalsApp(signalsParts(redis).parts)
  expect((await app.request(`${ORIGIN}/account`, { headers: { cookie: copied } })).status).toBe(303)
  const linked = await loggedIn(await linkOf(MAIN.name))
  const changed = createSignalsApp(signalsParts(redis, { operatorDigest: digestOf('another one') }).parts)
  expect((await changed.request(`${ORIGIN}/account`, { headers: { cookie: linked.cookie() } })).status).toBe(
    303,
  )
  const later = open()
  later.clock.ms = 1
  for (let i = 0; i < MOST_SESSIONS; i++) await later.logIn(acme.token)
  expect([await linked.isIn(), await redis.hlen(accountSessionsKey('acme'))]).toEqual([false, MOST_SESSIONS])
  for (const cookie of ['highwater_account=acme.x', 'highwater_account=', 'highwater_account=__proto__.x'])
    expect((await app.request(`${ORIGIN}/account`, { headers: { cookie } })).status).toBe(303)
})

const HOOK = 'https://hooks.example.org/token-of-mine'

/** Sets an endpoint, for which the name is an input unless it is the first one. */
async function setEndpoint(page: Page, endpoint: string, url = HOOK) {
  const { csrf } = await page.get('/account/endpoints')
  return endpoint === 'default'
    ? page.post('/account/endpoints/default/put', { csrf, url })
    : page.post('/account/endpoints/-/put', { csrf, url, endpoint })
}

/** Whatever is owed is acknowledged. */
async function deliverAll(clock: Page['clock']) {
  const world = madeWorld(redis)
  world.clock.ms = NOW_MS + clock.ms
  for (const destination of await relayAll(redis, () => world.clock.ms))
    await drainDestination(world.parts, destination, 'fast')
  return world.sent
}

test('a new subscriber sets an endpoint, tests it and reads that the test was delivered, from the link of an operator on and without scripts', async () => {
  const page = await loggedIn(await linkOf(MAIN.name))
  expect((await page.get('/account/endpoints')).text).toMatch(
    /Set your endpoint.*action="\/account\/endpoints\/default\/put"/s,
  )
  const set = await setEndpoint(page, 'default')
  expect(set.text).toMatch(/The secret of the endpoint.*whsec_.*shown this once/s)
  const { csrf, text } = await page.get('/account/endpoints')
  for (const part of ['>healthy<', 'hooks.example.org', 'Fire a test']) expect(text).toContain(part)
  expect(text).not.toMatch(/token-of-mine|whsec_[\w+/]{20}/)
  const fired = await page.post('/account/endpoints/default/test', { csrf })
  const [path, note] = fired.headers.get('location')!.split('?')
  expect([path, note]).toEqual([expect.stringMatching(/^\/account\/deliveries\/\d+$/), 'note=test_endpoint'])
  const [sent] = await deliverAll(page.clock)
  expect(sent?.url).toBe(HOOK)
  const shown = (await page.get(`${path}?${note}`)).text
  for (const part of ['A test signal was fired', '>delivered<', '>delivered at <time', '"good">200<'])
    expect(shown).toContain(part)
  const state = (await page.get('/account')).text
  for (const part of ['"good">healthy<', '"good">none<', `hw_live_${acme.keyId}`, 'alder, birch'])
    expect(state).toContain(part)
})

test('the settings of an endpoint are changed by forms that send what they have alone, and a field left empty is none', async () => {
  const page = await loggedIn()
  for (const name of ['default', 'backup']) expect((await setEndpoint(page, name)).status).toBe(200)
  const { csrf } = await page.get('/account/endpoints')
  const patch = (fields: Record<string, string>) =>
    page.post('/account/endpoints/backup/patch', { csrf, ...fields })
  const stateOf = async () => {
    const { registering } = page.parts
    return (await readOwnEndpoints(registering, 'acme')).find(({ endpoint }) => endpoint === 'backup')
  }
  await patch({ filter: 'alder', expire_entries_after_s: '300' })
  expect(await stateOf()).toMatchObject({ filter: ['alder'], expire_entries_after_s: 300, paused: false })
  const asked = await patch({ headers: 'Authorization: Bearer a:b\nX-Team: 7' })
  expect(asked.text).toContain('Replace the headers of the endpoint backup?')
  await patch({ headers: 'Authorization: Bearer a:b\nX-Team: 7', confirm: 'yes' })
  expect(await stateOf()).toMatchObject({ header_names: ['Authorization', 'X-Team'], filter: ['alder'] })
  await patch({ paused: 'yes', confirm: 'yes' })
  const { text } = await page.get('/account/endpoints')
  for (const part of ['>paused<', 'Authorization, X-Team', 'value="alder" checked', 'after 5.0 min'])
    expect(text).toContain(part)
  expect(text).not.toContain('Bearer')
  await patch({ paused: '' })
  await patch({ filter: '', expire_entries_after_s: '' })
  await patch({ headers: '', confirm: 'yes' })
  const none = { filter: null, expire_entries_after_s: null, header_names: [], paused: false }
  expect(await stateOf()).toMatchObject(none)
  const refused = await patch({ filter: 'elm', expire_entries_after_s: '' })
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('entitled to')])
})

test('what was given up is counted, and sent again once that is confirmed, and a number that was never sent says why', async () => {
  const page = await loggedIn()
  await setEndpoint(page, 'default')
  for (const id of ['a', 'b', 'c']) await fire(redis, id, id === 'c' ? 'elm' : 'alder')
  await relayAll(redis, () => NOW_MS)
  const [first, second, unseen] = (await redis.xrevrange(LOG, '+', '-', 'COUNT', 3))
    .map(([id]) => Number.parseInt(id, 10))
    .reverse()
  for (const seq of [first!, second!]) await settleAs(redis, seq, 'acme', 'exhausted', 1)
  const { csrf, text } = await page.get('/account/deliveries?status=exhausted&endpoint=default')
  expect(text.match(/>given up<\/span>/g)).toHaveLength(2)
  const again = { csrf, from: '1', only: 'exhausted', fired_from: '2026-11-21T00:00' }
  expect((await page.post('/account/resend', again)).text).toContain('Send 2 signals again?')
  expect((await page.get('/account')).text).toMatch(/"bad">2<.*not acknowledged/s)
  const sent = await page.post('/account/resend', { ...again, confirm: 'yes' })
  expect(sent.headers.get('location')).toBe('/account/deliveries?note=resend')
  expect((await readDelivery(redis, first!, 'acme'))?.status).toBe('owed')
  expect((await page.get(`/account/why?seq=${unseen}`)).status).toBe(404)
  expect((await page.get(`/account/why?seq=${first}`)).text).toContain('waiting')
  expect((await page.get('/account/why?seq=x')).status).toBe(422)
})

test('no view and no form of the page for subscribers answers otherwise to the names and numbers of another client than to those that nobody has, or changes anything of it', async () => {
  const victim = await addClient(redis, 'victim', ['alder'], random)
  const theirs = await loggedIn(victim.token)
  for (const name of ['default', 'vault']) await setEndpoint(theirs, name, 'https://private.example.net/x')
  const { csrf: theirCsrf } = await theirs.get('/account')
  await theirs.post('/account/endpoints/vault/test', { csrf: theirCsrf })
  const seq = Number((await redis.hget(HEAD, 'seq')) ?? 0)
  await deliverAll(theirs.clock)
  const page = await loggedIn()
  await setEndpoint(page, 'default')
  const { csrf } = await page.get('/account')
  const before = await storedOf(redis, 'victim')
  const answers = async (endpoint: string, number: number) => {
    const fill = (path: string) =>
      path.replaceAll(/[:{](endpoint|seq)\}?/g, (_, name) => (name === 'seq' ? `${number}` : endpoint))
    const query = `seq=${number}&endpoint=${endpoint}`
    const found: [string, number, string][] = []
    const note = ({ status, text, headers }: Awaited<ReturnType<Page['get']>>, path: string) => {
      const said = text + (headers.get('location') ?? '')
      found.push([
        path,
        status,
        said
          .replaceAll(endpoint, 'NAME')
          .replaceAll(RegExp(`(value="|Signal |signal |=)${number}\\b`, 'g'), '$1N')
          .replaceAll(/whsec_[\w+/=]+/g, 'SECRET'),
      ])
    }
    for (const path of Object.keys(VIEWS)) note(await page.get(`${fill(path)}?${query}`), path)
    for (const { path } of ACCOUNT_FORMS.forms) {
      const fields = { csrf, endpoint, from: `${number}`, to: `${number}`, url: HOOK, confirm: 'yes' }
      note(await page.post(fill(path), fields), path)
      await removeWebhook(redis, `acme/${endpoint}`)
    }
    return found
  }
  const own = await answers('vault', seq)
  expect(own).toEqual(await answers('nobodys', 987_654))
  expect(own.length).toBe(Object.keys(VIEWS).length + ACCOUNT_FORMS.forms.length)
  for (const [, , text] of own) expect(text).not.toMatch(/victim|private\.example|TEST-INSTRUMENT/)
  expect(await storedOf(redis, 'victim')).toEqual(before)
})

test('a suspended client that has logged in with its key sees its endpoints and keys, and nothing of signals', async () => {
  const page = await loggedIn()
  const seq = await fire(redis, 'fired-since', 'alder')
  await suspendClient(redis, 'acme')
  const { text: state } = await page.get('/account')
  expect(state).toContain('Your account is not active')
  expect(state).not.toContain('Last acknowledged')
  for (const path of [`/account/deliveries/${seq}`, `/account/why?seq=${seq}`, '/account/deliveries'])
    expect([path, (await page.get(path)).status]).toEqual([path, 403])
})

test('a header that is refused is asked for again by its own form, which changes no filter, and a line without a colon is refused', async () => {
  const page = await loggedIn()
  expect((await setEndpoint(page, 'default')).status).toBe(200)
  const { csrf } = await page.get('/account/endpoints')
  for (const headers of ['Host: x', 'a line without a colon']) {
    const sent = { csrf, headers, confirm: 'yes' }
    const { status, text } = await page.post('/account/endpoints/default/patch', sent)
    expect([headers, status]).toEqual([headers, 422])
    expect(text).toContain('name="headers"')
    expect(text).not.toContain('name="filter"')
  }
})

test('a wrong name of an endpoint, and one that is set when another is added, is asked for again in its form, with what was typed and what is wrong beside it, in the words of the page', async () => {
  const page = await loggedIn()
  await setEndpoint(page, 'default')
  const { text } = await setEndpoint(page, 'Not A Name')
  expect(text).toMatch(/<h1 class="refusal">Set an endpoint<.*Endpoint: expected 1 to 64 of a-z/s)
  expect(text).toMatch(
    /name="endpoint" value="Not A Name"[^>]*aria-describedby="([^"]+)" aria-invalid="true".*<small id="\1" class="bad">expected/s,
  )
  expect(text).toContain(`value="${HOOK}"`)
  const { csrf: form } = await page.get('/account/endpoints')
  const moved = await page.post('/account/endpoints/default/put', {
    csrf: form,
    url: 'no address',
    secret: 'x',
  })
  expect(moved.text).toMatch(/<h1 class="refusal">Set an endpoint<.*Secret.*type it again: it is not shown/s)
  expect(moved.text).not.toContain('name="headers"')
  const { csrf } = await page.get('/account/endpoints')
  const missing = (await page.post('/account/endpoints/nobodys/test', { csrf })).text
  expect(missing).toContain('the tab Endpoints lists yours, and “Test and set” on the tab Endpoints sets one')
  expect(missing).not.toContain('/v1/')
  const taken = await page.post('/account/endpoints/-/put', { csrf, url: `${HOOK}/2`, endpoint: 'default' })
  expect([taken.status, taken.text]).toEqual([422, expect.stringContaining('Endpoint: expected a new name')])
})

test('the login says that a session ended, a link that was used before ends none, and an address without a page has one that says so', async () => {
  const used = await linkOf(MAIN.name)
  const page = await loggedIn(`https://signals.example.org/account/login#${used}`) // pasted
  const again = await page.logIn(used)
  expect(again.headers.get('location')).toBe('/account?note=still')
  expect((await page.get('/account?note=still')).text).toContain(
    'the link was used before. You are still logged in.',
  )
  const nope = await page.get('/account/nope')
  expect([nope.status, nope.text]).toEqual([404, expect.stringContaining('there is no such page')])
  await suspendClient(redis, 'acme')
  const ended = await page.get('/account')
  expect(ended.headers.get('location')).toBe('/account/login?ended')
  expect((await page.get('/account/login?ended')).text).toContain('Your session ended: its key was revoked')
})
