// The operator's page in process: who sees it, what a form needs, and that nothing of what others wrote becomes markup.
import { beforeEach, expect, test } from 'vitest'
import { createOperatorApp } from '#api/operator/app.ts'
import type { OperatorParts } from '#api/operator/exchange.ts'
import { MOST_WAITING_TOKENS, MOST_WRONG_TOKENS, WRONG_TOKEN_DELAY_MS } from '#api/service/guessing.ts'
import { findClient } from '#signals/clients/clients.ts'
import { halt, haltedAliases, resume } from '#signals/live/live-record.ts'
import { commit } from '#signals/log/commit.ts'
import { setSettings } from '#signals/outbox/webhooks.ts'
import { LIVE_ALIASES, liveKey, READY_PREFIX, RELAY_CURSOR, SEAL_STATE } from '#signals/redis/keys.ts'
import { casesOf } from '../../support/cases-of.ts'
import {
  FORM,
  ORIGIN,
  operatorBrowser,
  operatorClient,
  operatorParts,
  setWebhook,
  TOKEN,
  testBox,
} from '../../support/signals/operator.ts'
import { playScene, settleAs } from '../../support/signals/operator-scene.ts'
import {
  addClient,
  fire,
  NOW_MS,
  ORDERED,
  seededBytes,
  signalContent,
} from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

const HOUR_MS = 3_600_000

let nowMs = NOW_MS
/** The operator's, who has logged in. */
let page: ReturnType<typeof operatorBrowser>

useRedis()
beforeEach(async () => {
  nowMs = NOW_MS
  page = await loggedIn()
})

const parts = (more = {}) => operatorParts(redis, { clock: { now: () => nowMs, elapsed: () => 0 }, ...more })

let browsers = 0

const browser = (own: Partial<OperatorParts> = {}) =>
  operatorBrowser(parts({ random: seededBytes(`browser ${++browsers}`), ...own }))

/** A browser whose operator has logged in. */
async function loggedIn(own: Partial<OperatorParts> = {}) {
  const opened = browser(own)
  await opened.logIn()
  return opened
}

const textOf = async (path: string): Promise<string> => (await page.get(path)).text

/** The one script, which follows what happens. */
const SCRIPT = '<script src="/ops/updates.js" defer></script>'

const VIEWS = ['clients', 'clients/acme', 'signals', 'signals/1', 'deliveries', 'live', 'builds', 'audit']
const PAGES = ['/ops', ...VIEWS.map(view => `/ops/view/${view}`)]

test.each(PAGES)('the page %s is shown after a login, and otherwise redirects to the login', async path => {
  await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  await fire(redis, 'a', 'alder')
  const stranger = await browser().get(path)
  expect([stranger.status, stranger.headers.get('location'), stranger.text]).toEqual([303, '/ops/login', ''])
  const shown = await page.get(path)
  expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(shown.text).toContain(SCRIPT)
  expect(shown.text.replace(SCRIPT, '')).not.toMatch(/<script|style="|javascript:| on\w+=/)
})

test('the login takes the token alone, and its cookie is of this site only, out of reach of scripts, and behind HTTPS not sent without', async () => {
  const fresh = browser()
  const wrong = await fresh.post('/ops/login', { token: `${TOKEN}x` })
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
  const { status, headers } = await fresh.logIn()
  expect([status, headers.get('location')]).toEqual([303, '/ops'])
  const [, ...attributes] = (headers.get('set-cookie') ?? '').split('; ')
  expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=129600', 'Path=/ops', 'SameSite=Strict'])
  expect(headers.get('set-cookie')).not.toContain(TOKEN)
  const scheme = { origin: 'https://127.0.0.1:8082' }
  for (const header of [scheme, { 'x-forwarded-proto': 'https' }, { 'x-forwarded-proto': 'HTTPS, http' }])
    expect((await fresh.post('/ops/login', { token: TOKEN }, header)).headers.get('set-cookie')).toContain(
      '; Secure',
    )
})

/** Asks the interface with a token, and logs in on the page of the same app. */
function guessing(own: Partial<OperatorParts>) {
  const app = createOperatorApp(parts(own))
  const logIn = { method: 'POST', headers: { ...FORM, origin: ORIGIN } }
  return {
    ask: (token: string) =>
      app.request(`${ORIGIN}/ops/status`, { headers: { authorization: `Bearer ${token}` } }),
    logIn: (token: string) =>
      app.request(`${ORIGIN}/ops/login`, { ...logIn, body: new URLSearchParams({ token }).toString() }),
  }
}

test('wrong tokens are delayed and reported if they are too many for mistakes, and the right one never is', async () => {
  let elapsedMs = 0
  const pauses: number[] = []
  const guesses: number[] = []
  const { ask, logIn } = guessing({
    clock: { now: () => nowMs, elapsed: () => elapsedMs },
    pause: async (ms: number) => void pauses.push(ms),
    onGuessing: (count: number) => guesses.push(count),
  })
  const statuses = async (token: string) => [(await ask(token)).status, (await logIn(token)).status]
  for (let i = 0; i < MOST_WRONG_TOKENS / 2; i++) expect(await statuses(`wrong-${i}`)).toEqual([401, 401])
  expect([pauses, guesses]).toEqual([[], []])
  expect([await statuses('wrong'), await statuses(TOKEN)]).toEqual([
    [401, 401],
    [200, 303],
  ])
  expect(pauses).toEqual([WRONG_TOKEN_DELAY_MS, WRONG_TOKEN_DELAY_MS])
  expect(guesses).toEqual([MOST_WRONG_TOKENS + 1, MOST_WRONG_TOKENS + 2])
  elapsedMs += 60_000
  expect([(await ask('wrong')).status, pauses.length]).toEqual([401, 2])
})

test('parallel wrong tokens beyond those that may wait are refused at once, and the right one is served', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { ask, logIn } = guessing({ pause: () => released })
  for (let i = 0; i < MOST_WRONG_TOKENS; i++) expect((await ask('wrong')).status).toBe(401)
  const waiting = Array.from({ length: MOST_WAITING_TOKENS }, () => ask('wrong'))
  const refused = [await ask('wrong'), await logIn('wrong')]
  for (const { status, headers } of refused) expect([status, headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused[0]!.json()).toMatchObject({ error: { code: 'rate_limited' } })
  expect((await ask(TOKEN)).status).toBe(200)
  release()
  for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(401)
  expect((await ask('wrong')).status).toBe(401)
})

test('a session on the page ends by itself, by another operator token, and by one changed character of its cookie', async () => {
  const cookie = page.cookie()
  nowMs += 12 * 3_600_000 - 1
  expect((await page.get('/ops')).status).toBe(200)
  nowMs += 1
  expect((await page.get('/ops')).status).toBe(303)
  nowMs = NOW_MS
  const ask = async (value: string, token = TOKEN) => {
    const app = createOperatorApp(parts({ token }))
    return (await app.request(`${ORIGIN}/ops`, { headers: { host: '127.0.0.1', cookie: value } })).status
  }
  expect(await ask(cookie)).toBe(200)
  expect(await ask(cookie, 'another-token-0123456789abcdefghij')).toBe(303)
  expect(await ask(cookie.replace(/=\d/, digit => `=${(Number(digit[1]) + 1) % 10}`))).toBe(303)
  expect(await ask(`${cookie.slice(0, -1)}${cookie.endsWith('0') ? '1' : '0'}`)).toBe(303)
})

test('a session on the page ends with its logout, also for a copy of its cookie, and no other session does', async () => {
  const copied = page.cookie()
  const other = await loggedIn()
  const { csrf } = await page.get('/ops')
  expect((await page.post('/ops/logout', { csrf })).headers.get('location')).toBe('/ops/login')
  const ask = (path: string, init: RequestInit = {}) =>
    createOperatorApp(parts()).request(ORIGIN + path, {
      ...init,
      headers: { host: '127.0.0.1', cookie: copied, origin: ORIGIN, ...FORM },
    })
  expect((await ask('/ops')).status).toBe(303)
  const body = new URLSearchParams({ csrf, alias: 'alder' }).toString()
  expect((await ask('/ops/view/live/halt', { method: 'POST', body })).status).toBe(401)
  expect(await haltedAliases(redis)).toEqual([])
  expect((await other.get('/ops')).status).toBe(200)
})

test('a form without the token of its session, or from another site, changes nothing', async () => {
  const { csrf } = await page.get('/ops/view/live')
  const halt = (fields: Record<string, string>, headers = {}) =>
    page.post('/ops/view/live/halt', { alias: 'alder', ...fields }, headers)
  expect((await halt({})).status).toBe(403)
  expect((await halt({ csrf: `${csrf.slice(0, -1)}x` })).status).toBe(403)
  expect((await halt({ csrf }, { origin: 'https://evil.example.org' })).status).toBe(403)
  expect((await halt({ csrf }, { origin: '' })).status).toBe(403)
  expect((await halt({ csrf }, { origin: 'null', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await halt({ csrf }, { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await browser().post('/ops/view/live/halt', { alias: 'alder', csrf })).status).toBe(401)
  const other = await loggedIn()
  expect((await other.post('/ops/view/live/halt', { alias: 'alder', csrf })).status).toBe(403)
  expect(await haltedAliases(redis)).toEqual([])
  expect((await halt({ csrf })).text).toMatch(/Halt alder\?.*is sealed, and published.*name="why"/s)
  expect(await haltedAliases(redis)).toEqual([])
  expect((await halt({ csrf, why: 'a storm' })).headers.get('location')).toBe('/ops/view/live?note=halt')
  expect(await haltedAliases(redis)).toEqual(['alder'])
})

test('a range is sent again from the page of its client, which says if there is nothing, or why nothing is sent', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  const request = operatorClient(parts())
  await setWebhook(redis, 'acme')
  for (const id of ['a', 'b', 'c']) await fire(redis, id, 'alder')
  await redis.set(RELAY_CURSOR, 3)
  expect((await request('POST', '/ops/clients/acme/replay')).status).toBe(422)
  const client = '/ops/view/clients/acme'
  const { csrf, text } = await page.get(client)
  expect(text).toMatch(/name="only" value="exhausted"><button class="quiet">Resend all given up…</)
  const resend = (fields: Record<string, string>) => page.post(`${client}/replay`, { csrf, ...fields })
  expect((await resend({ from: '2', to: '' })).text).toContain('Send 2 signals again?')
  expect((await resend({ from: '2', to: '1' })).status).toBe(422)
  const sent = await resend({ from: '1', to: '2', confirm: 'yes' })
  expect([sent.headers.get('location'), await readySeqs()]).toEqual([`${client}?note=replay`, ['1', '2']])
  const none = await resend({ from: '9', confirm: 'yes' })
  expect((await page.get(none.headers.get('location') ?? '')).text).toContain('nothing is sent')
  expect((await page.post(`${client}/webhook/disable`, { csrf })).text).toContain(
    'only if you resend them then',
  )
  await request('POST', '/ops/clients/acme/webhook/disable')
  const disabled = await resend({ from: '1' })
  expect([disabled.status, disabled.text]).toEqual([409, expect.stringContaining('is disabled')])
  await request('POST', '/ops/clients/acme/webhook/enable')
  expect((await page.post(`${client}/suspend`, { csrf })).text).toContain('only if you resend them then')
  await request('POST', '/ops/clients/acme/suspend')
  const suspended = await request('POST', '/ops/clients/acme/replay?from=1')
  expect([suspended.status, suspended.text]).toEqual([409, expect.stringContaining('is suspended')])
})

const readySeqs = () => redis.zrange(`${READY_PREFIX}acme`, 0, '-1')

test('the page shows what may be wrong with a client, refuses what is, and names each action in the log', async () => {
  const { csrf } = await page.get('/ops/view/clients')
  const post = (path: string, fields: Record<string, string> = {}) =>
    page.post(`/ops/view/clients${path}`, { csrf, ...fields })
  const shown = () => textOf('/ops/view/clients/acme')
  const added = await post('', { id: 'acme', tier: '', aliases: ' alder,  hidden ', activate: 'yes' })
  expect(added.headers.get('location')).toBe('/ops/view/clients/acme?note=add_client')
  expect(await findClient(redis, 'acme')).toMatchObject({
    tier: 'standard',
    status: 'active',
    program: false,
  })
  expect(await shown()).toContain('hidden (not served now)<')
  nowMs += 1_000
  const again = await post('', { id: 'acme', tier: 'another' })
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('acme')])
  await post('/acme/entitlements', { aliases: 'birhc' })
  expect(await shown()).toMatch(/birhc \(not served now\) \(did you mean &#39;birch&#39;\?\)/)
  expect((await post('/acme/keys/00EXAMPL/revoke', { confirm: 'yes' })).status).toBe(404)
  await post('/acme/webhook/put', { url: 'https://hooks.example.org/in' })
  const tested = (await post('/acme/test')).headers.get('location') ?? ''
  expect(tested).toMatch(/^\/ops\/view\/signals\/\d+\?note=test$/)
  expect((await page.get(tested)).text).toContain('A test signal was fired')
  const audit = await textOf('/ops/view/audit')
  for (const action of ['add client', 'entitle', 'revoke key', 'set webhook', 'test'])
    expect(audit).toContain(`>${action}</td>`)
  expect(audit).not.toMatch(/whsec_|hw_live_|\{/)
})

test('an answer to a page that follows what happens is neither logged nor counted, and a refusal is', async () => {
  const answered: string[] = []
  const app = createOperatorApp(
    parts({ onAnswered: ({ status }: { status: number }) => answered.push(`${status}`) }),
  )
  const headers = { host: '127.0.0.1', cookie: page.cookie(), 'x-highwater-update': '1' }
  const ask = (path: string, more = {}) => app.request(ORIGIN + path, { headers: { ...headers, ...more } })
  expect((await ask('/ops/view/live')).status).toBe(200)
  await ask('/ops/view/live', { cookie: '' })
  await ask('/ops/view/clients/nobody')
  expect(answered).toEqual(['303', '404'])
})

test('the overview shows what is published, how the nights went, and what is wrong now', async () => {
  const ago = (hours: number, ms = 0) => new Date(NOW_MS - hours * HOUR_MS + ms).toISOString()
  const lacking = 'bars/X/4h.csv lacks 3 bars'
  const took = { started_utc: ago(30), ended_utc: ago(30, 90_000), error: null }
  const night = { ...took, outcome: 'done' as const, summary: { missing_bars: [lacking] } }
  const versions = [true, false].map(isNewest => ({
    ...{ version: `2026-11-${isNewest ? 19 : 18}T00:15:00Z`, published: ago(isNewest ? 30 : 54) },
    ...{ entered: null, manifest_sha256: '' },
    ...{ is_served: isNewest, history_restated: isNewest, night: isNewest ? night : null },
  }))
  const served = { version: versions[0]!.version, from: '2020-01-01', to: '2026-11-18', strategies: 8 }
  const failing = { since: ago(6), cause: 'import: the import ended with #' }
  const published = { ...served, builtWith: '0.1.0', versions, failing }
  const message = 'the webhook of acme has failed for 5 minutes: inform its owner'
  const page = await loggedIn({
    published: async () => published,
    alerts: () => [{ kind: 'failing', subject: 'acme', message, at: '2026-11-20T23:00:00Z', repeated: 0 }],
  })
  const { text } = await page.get('/ops')
  const build = '8 strategies, built with highwater 0.1.0'
  for (const part of [build, lacking, 'took 90.0 s', 'overdue', 'restated', message])
    expect(text).toContain(part)
  expect(text).toContain('The night has failed for 6.0 h: import: the import ended with #.')
  const healthy = browser({ published: async () => ({ ...published, failing: null, versions: [] }) })
  await healthy.logIn()
  const calm = (await healthy.get('/ops')).text
  expect(calm).toContain('no night has run yet')
  expect(calm).not.toContain('The night has failed')
})

test('a strategy that runs live is shown with the signal that was fired by hand, and that with who fired it and why', async () => {
  await redis.hset(liveKey('alder'), { cursor: String(NOW_MS) })
  const content = signalContent('a', { action: 'flat', by: 'operator:jane', why: 'operator' })
  await commit(redis, [{ content, onlyFor: null }], NOW_MS)
  expect(await textOf('/ops')).toMatch(/signal <a [^>]*>1<\/a> fired by hand</)
  for (const path of ['/ops/view/signals', '/ops/view/signals/1'])
    for (const part of ['flat (operator)', 'operator:jane']) expect(await textOf(path)).toContain(part)
})

test('a strategy that runs, was fired by hand, or is halted, is shown and can be halted and resumed, served or not, and so can one that did nothing yet', async () => {
  await fire(redis, 'a', 'hidden')
  await redis.hset(liveKey('runs'), { cursor: String(NOW_MS), live_from: String(NOW_MS), mode: 'LIVE' })
  await redis.sadd(LIVE_ALIASES, 'runs')
  await halt(redis, 'birch', ORDERED)
  await halt(redis, '*', ORDERED)
  expect(await textOf('/ops/view/live')).not.toContain('>*</td>')
  await resume(redis, '*', ORDERED)
  for (const path of ['/ops', '/ops/view/live']) expect(await textOf(path)).toContain('>runs</td>')
  const { text, csrf } = await page.get('/ops/view/live')
  expect(text).toMatch(/>hidden<.*>fired by hand<.*name="alias" value="hidden"><button class="stop">Halt</s)
  expect(text).toMatch(/>birch<\/td>.*>halted<.*name="alias" value="birch"><button class="quiet">Resume</s)
  expect(text).toContain('<option value="alder">alder</option>')
  for (const alias of ['hidden', 'runs', 'alder'])
    await page.post('/ops/view/live/halt', { csrf, alias, confirm: 'yes' })
  expect(await haltedAliases(redis)).toEqual(['alder', 'birch', 'hidden', 'runs'])
})

test('what a client or a receiver wrote is text and never markup', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  const request = operatorClient(parts())
  await request('PUT', '/ops/clients/acme/webhook', { url: 'https://example.org/<script>alert(1)</script>' })
  await request('POST', '/ops/clients/acme/webhook/disable', { why: '<img src=x onerror=alert(1)>' })
  for (const path of ['/ops', '/ops/view/clients/acme', '/ops/view/live?note=<script>']) {
    const { status, text } = await page.get(path)
    expect(status).toBe(200)
    expect(text.replace(SCRIPT, '')).not.toMatch(/<script|<img/)
  }
  expect((await page.get('/ops/view/clients/<script>')).text).not.toContain('<script')
})

test('deliveries are filtered by times as a browser sends them, in UTC', async () => {
  await playScene(redis)
  const shown = (query: string) => textOf(`/ops/view/deliveries?client=&${query}`)
  expect(await shown('fired_from=2026-11-21T00%3A00&fired_to=2026-11-21T00%3A01')).toContain('signals/6"')
  const none = await shown('fired_from=2026-11-21T00%3A01&fired_to=')
  for (const part of ['No delivery matches', 'value="2026-11-21T00:01"']) expect(none).toContain(part)
  expect(await shown('fired_from=&fired_to=2026-11-21T00%3A00')).toContain('No delivery matches')
})

test('a page of the operator says each thing once, and shows what is typed as such', async () => {
  await playScene(redis)
  await addClient(redis, 'fresh', ['alder'], seededBytes('fresh'))
  const failing = await textOf('/ops/view/clients/north-ridge')
  expect(failing.match(/paused after failures/g)).toHaveLength(1)
  expect(failing).not.toContain('<a href="/ops/view/clients/north-ridge">')
  expect(await textOf('/ops/view/signals/3')).toContain('<a href="/ops/view/clients/north-ridge">')
  expect(await textOf('/ops/view/clients/old-mill')).toContain('>disabled</span>')
  expect(await textOf('/ops/view/clients/acme-capital')).not.toContain('paused after failures')
  const fresh = await textOf('/ops/view/clients/fresh')
  expect(fresh).toContain('None, so the client pulls.')
  await redis.flushall()
  const texts = await Promise.all(PAGES.filter(path => !/acme|1$/.test(path)).map(textOf))
  for (const text of [...texts, fresh]) expect(text).not.toContain('`')
})

test('the page of a client shows its latency, and that of a signal the time of each attempt', async () => {
  await playScene(redis)
  const served = await textOf('/ops/view/clients/acme-capital')
  expect(served).toContain('last 6 deliveries')
  expect(served).toMatch(/First attempt<\/td>(<td class="n"[^>]*>9 ms<\/td>){3}/)
  expect(served).toMatch(/Acknowledged<\/td>(<td class="n"[^>]*>140 ms<\/td>){3}/)
  const dead = await textOf('/ops/view/clients/old-mill')
  expect(dead).toMatch(/<h2>Latency<\/h2>\s*<div class="scroll"><p class="empty">No deliveries yet\./)
  const text = await textOf('/ops/view/signals/3')
  for (const part of ['2026-11-21 00:00:05.420', '"bad">502<', '"good">200<']) expect(text).toContain(part)
})

test('builds on a fleet are shown with what each worker has done, and one without progress is marked', async () => {
  const build = {
    ...{ run: 'night-1', dataset_version: '2026-11-22T00:15:00Z', phase: 'render', done: 812, total: 1_000 },
    workers: { 'build-1:812': 401, 'build-2:4711': 411 },
  }
  const at = (ms: number) => new Date(nowMs - ms).toISOString()
  const builds = async () => [
    { ...build, progressed_at: at(2_000) },
    { ...build, run: 'night-2', workers: {}, progressed_at: at(600_000) },
  ]
  const page = await loggedIn({ builds })
  const { text } = await page.get('/ops/view/builds')
  const [first = '', second = ''] = text.split('<tr>').slice(2)
  expect(first).toMatch(/^<td[^>]*>night-1<.*812 of 1000.*build-1:812: 401.*build-2:4711: 411.*under way/s)
  expect(second).toMatch(/^<td[^>]*>night-2<.*none yet.*no progress for 10.0 min/s)
})

test('the page of a signal, and the refusal of its delivery, say of each client why it was not sent it, by its state then', async () => {
  const request = operatorClient(parts())
  const post = (path: string, body?: object) => request('POST', `/ops/clients${path}`, body)
  const add = (id: string, alias = 'alder') => post('', { id, aliases: [alias], activate: true })
  const hook = (id: string) => request('PUT', `/ops/clients/${id}/webhook`, { url: 'https://example.org/in' })
  nowMs -= HOUR_MS
  await add('barred', 'birch')
  for (const id of ['asleep', 'gone', 'off', 'pulls']) await add(id)
  for (const id of ['asleep', 'barred', 'gone', 'off']) await hook(id)
  for (const path of ['/asleep/suspend', '/off/webhook/disable']) await post(path)
  nowMs += HOUR_MS
  const seq = await fire(redis, 'a', 'alder')
  await redis.set(RELAY_CURSOR, seq)
  await post('/gone/entitlements', { remove: ['alder'] })
  await settleAs(redis, seq, 'gone', 'withdrawn', 0)
  nowMs += 1
  for (const path of ['/asleep/activate', '/off/webhook/enable']) await post(path)
  await post('/barred/entitlements', { add: ['alder'] })
  await hook('pulls')
  await add('late')
  const text = await textOf(`/ops/view/signals/${seq}`)
  const why = {
    asleep: 'its account was suspended then',
    barred: 'it was not entitled to alder then, and is now',
    gone: 'it was not entitled to alder then',
    late: 'it was added later, at 2026-11-21T00:00:05Z',
    off: 'its webhook was disabled then',
    pulls: 'it had no webhook then: it could only pull',
  }
  for (const [id, says] of Object.entries(why))
    expect(text).toMatch(RegExp(`>${id}</a></td><td[^>]*>${says}<`))
  const refused = await request('GET', `/ops/signals/${seq}/barred`)
  expect([refused.status, refused.text]).toEqual([404, expect.stringContaining(why.barred)])
  expect((await request('GET', `/ops/signals/${seq}/gone`)).json).toMatchObject({ data: { why: why.gone } })
})

test('a form that is refused is shown again as it was filled, without its secret, and so is a filter', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('keys'))
  const { csrf } = await page.get('/ops/view/clients')
  const typed = { csrf, id: 'A B', aliases: 'alder, elm', activate: 'yes' }
  const added = (await page.post('/ops/view/clients', typed)).text
  for (const part of ['value="A B"', 'value="alder, elm"', '"yes" checked']) expect(added).toContain(part)
  const hook = await page.post('/ops/view/clients/acme/webhook/put', { csrf, url: '', secret: 'whsec_typed' })
  expect([hook.status, hook.text]).toEqual([422, expect.stringContaining('name="secret" value=""')])
  const filter = await textOf('/ops/view/deliveries?client=A+B&status=exhausted')
  for (const part of ['"A B"', '"exhausted" selected', 'the id of a client']) expect(filter).toContain(part)
})

test('a refusal on the page of the operator is a page, in which a command stands as one, and that of a form leads back to the page that it was sent from, and to no other site', async () => {
  const { status, text } = await page.get('/ops/view/clients/nobody')
  expect([status, text]).toEqual([404, expect.stringContaining('<code>highwater ops clients list</code>')])
  expect(text).toContain('<a class="brand" href="/ops">')
  const { csrf } = await page.get('/ops/view/clients')
  const refused = async (referer: string, path = '/ops/view/clients') =>
    /<a href="([^"]*)">Back</.exec((await page.post(path, { csrf, id: 'A B' }, { referer })).text)?.[1]
  expect(await refused(`${ORIGIN}/ops/view/clients?note=add_client`)).toBe(
    '/ops/view/clients?note=add_client',
  )
  for (const referer of ['https://evil.example.org/ops/view/clients', 'rubbish', `${ORIGIN}/elsewhere`])
    expect(await refused(referer)).toBe('/ops')
  const confirmation = '/ops/view/clients/nobody/suspend'
  expect(await refused(ORIGIN + confirmation, confirmation)).toBe('/ops')
})

test('a table that is too wide is reached by the keyboard and shaded, and the login has a user name for password managers', async () => {
  expect((await browser().get('/ops/login')).text).toMatch(/name="username" [^>]*autocomplete="username"/)
  await playScene(redis)
  expect(await textOf('/ops/view/clients')).toContain('<div class="scroll" role="region" aria-label="Client')
  expect(await textOf('/ops/style.css')).toMatch(/\.scroll \{[^}]*var\(--shade\)/)
})

const gapFound = (agoMs: number) => ({
  gaps: JSON.stringify([{ missing: 3, before_ms: NOW_MS - 864e5, found_ms: NOW_MS - agoMs }]),
})
const announced = JSON.stringify({ mode: 'LIVE', stop: 1, action: 'short' })
const timeframe_ms = 4 * HOUR_MS
const silentFor = (ms: number) => ({ cursor: NOW_MS - timeframe_ms - ms, timeframe_ms, announced })

const SILENT =
  'The runner of alder is silent: it announced a short, and its next bar has been due for 5.0 min.'
const DIFFERS = { diverges: 'alder, bar that closed at 2026-11-20T00:00:00Z: stored is nothing' }

test.each(casesOf<[string, object, string | RegExp, object]>`
a runner that announced a position and is silent -> ${silentFor(300_001)} -> ${SILENT} -> ${silentFor(300_000)}
a gap in the feed of a live strategy, for a day, -> ${gapFound(864e5 - 1)} -> alder: 3 bars are missing before 2026-11-20T00:00:05Z -> ${gapFound(864e5)}
a live strategy that diverges from its replay, until it agrees, -> ${DIFFERS} -> ${/^(?=.*>diverging<).*bar that closed at 2026-11-20T00:00:00Z: stored is nothing/s} -> ${{ cursor: NOW_MS }}`)(
  '%s has a line on the overview and on the live page',
  async (_what, wrong, line, right) => {
    await playScene(redis)
    await redis.hset(liveKey('alder'), wrong)
    for (const path of ['/ops', '/ops/view/live']) expect(await textOf(path)).toMatch(line)
    await redis.hdel(liveKey('alder'), ...Object.keys(wrong))
    await redis.hset(liveKey('alder'), right)
    expect(await textOf('/ops')).not.toMatch(/is silent|missing before|diverg/)
  },
)

test('the overview shows the newest seal and its age, and why no further one is signed', async () => {
  expect(await textOf('/ops')).not.toContain('Newest seal')
  await redis.hset(SEAL_STATE, { n: 42, to: NOW_MS - 120_000, refused: '', at: NOW_MS })
  expect(await textOf('/ops')).toMatch(/Newest seal<\/dt>\s*<dd>42\s*<small>ended 2\.0 min ago<\/small>/)
  await redis.hset(SEAL_STATE, { refused: 'nothing is sealed: the clock is behind: set it' })
  expect(await textOf('/ops')).toMatch(
    /role="alert">nothing is sealed: the clock is behind: set it; .*; refused</s,
  )
})

test('the page has a panel for each endpoint of a client, names one in trouble and one that was not sent a signal, and adds, disables and resends each by itself', async () => {
  await playScene(redis)
  const { csrf } = await page.get('/ops')
  const hooks = '/ops/view/clients/acme-capital/webhook'
  nowMs -= HOUR_MS
  const added = await page.post(`${hooks}/put`, {
    csrf,
    endpoint: 'backup',
    url: 'https://backup.example.org/in',
  })
  expect([added.status, added.text]).toEqual([200, expect.stringMatching(/whsec_/)])
  const client = await textOf('/ops/view/clients/acme-capital')
  expect(client).toMatch(
    /<h2>Webhook<\/h2>.*<h2>Endpoint backup<\/h2>.*backup\.example\.org.*<h2>Add an endpoint<\/h2>/s,
  )
  expect(client).toContain('<input type="hidden" name="endpoint" value="backup">')
  const adding = client.slice(client.indexOf('Add an endpoint'))
  expect(adding).toMatch(/<input type="text" name="endpoint" value="endpoint-2"/) // and not `default`, which it would replace
  const ids = [...client.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(client).toMatch(/<h2>Endpoint backup<.*<input type="text" name="endpoint" value="backup"/s) // what is sent again
  await setSettings(redis, testBox(), 'acme-capital/backup', { filter: ['birch'] })
  nowMs += HOUR_MS
  expect(await textOf('/ops/view/signals/6')).toMatch(
    />acme-capital\/backup<\/a><\/td><td[^>]*>its filter leaves alder out</,
  )
  const asked = await page.post(`${hooks}/disable`, { csrf, endpoint: 'backup' })
  expect(asked.text).toContain('<h1>Disable the endpoint backup of acme-capital?</h1>')
  await page.post(`${hooks}/disable`, { csrf, endpoint: 'backup', confirm: 'yes' })
  expect(await textOf('/ops')).toContain('<a href="/ops/view/clients/acme-capital">acme-capital/backup</a>')
  await redis.set(RELAY_CURSOR, await fire(redis, 'later', 'alder'))
  expect(await textOf('/ops/view/signals/8')).toMatch(
    />acme-capital\/backup<\/a><\/td><td[^>]*>its webhook was disabled/,
  )
  await settleAs(redis, 6, 'acme-capital/backup', 'exhausted', 2)
  const shown = await textOf('/ops/view/deliveries?client=acme-capital&endpoint=backup')
  expect(shown).toMatch(/>Endpoint<\/th>.*data-name="Endpoint">backup<.*name="endpoint" value="backup"/s)
  expect(shown).not.toContain('>default</td>')
  expect((await textOf('/ops/view/signals/6')).match(/>acme-capital\/backup<\/a>/g)).toHaveLength(2)
})
