// Every action of an operator through each front end: the JSON interface, the command line and the page do the same to
// the same subject, ask and show what they must, and log it once.
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { listenOperator } from '#api/operator/app.ts'
import { OPERATOR_FORMS } from '#api/operator/page/site.ts'
import { OPERATOR_ROUTES } from '#api/operator/routes.ts'
import { listKeys } from '#signals/clients/api-keys.ts'
import { digestOf } from '#signals/clients/token.ts'
import { createActionCopy, readActions, type SubjectState } from '#signals/operators/audit-log.ts'
import { setSettings } from '#signals/outbox/webhooks.ts'
import { EPOCH, OPERATOR_TOKENS, RELAY_CURSOR } from '#signals/redis/keys.ts'
import { openStore } from '#storage/open-store.ts'
import { run } from '../../cli/made-up.ts'
import { casesOf } from '../../support/cases-of.ts'
import { atEnd } from '../../support/ends.ts'
import {
  operatorBrowser,
  operatorClient,
  operatorParts,
  setWebhook,
  TOKEN,
  testBox,
} from '../../support/signals/operator.ts'
import { addClient, meddledWith, seededBytes } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let call: ReturnType<typeof operatorClient>
useRedis()
beforeAll(() => {
  call = operatorClient(parts())
})

const newest = async () => (await readActions(redis, { limit: 100 })).rows

/** An action and how each front end is asked for it; `KEY` stands for the id of the key of the client. */
type Step = {
  readonly action: string
  readonly json: readonly [method: string, path: string, body: object | undefined]
  /** The command, and what it prints. */
  readonly ops: readonly [line: string, prints: RegExp]
  /** The fields of the form if it has any; null where the page has none. */
  readonly form?: Record<string, string> | null
  /** What the page asks before it does it. */
  readonly asks?: string
  readonly subject?: string
  /** What is shown this once. */
  readonly secret?: RegExp
  /** What of the subject is different afterwards. */
  readonly changes?: SubjectState
}

const ACME = '/ops/clients/acme'
const PAGE = '/ops/view/clients/acme'
const URL_OF = 'https://hooks.example.org/in'
const OLD = '2026-11-20T00:15:00Z'
const SECRET_SHOWN = /whsec_[\w+/=-]+/

/** What a step has beside its request and its command. */
type More = Pick<Step, 'form' | 'asks' | 'subject' | 'secret' | 'changes'>

type Row = [action: string, asked: string, body: object | undefined, line: string, prints: RegExp, more: More]

const NONE = { status: 'pending', suspended: false, program: false, keys: [], webhook: null }
const ADDED = { id: 'acme', tier: 'pro', aliases: ['alder', 'hidden'] }
const ENTITLED = { aliases: ['alder', 'birch'], program: true, email: 'desk@example.org' }
const ISSUED = { name: 'jane', scopes: ['read', 'fire:alder'] }
const ENABLED = { webhook: { enabled: true, waiting: 0 } }
const [NO, EVERY] = [undefined, { subject: '*', form: { alias: '*' } }]
const LINKED = /^usable once until \S+, shown this once:\nhttps:\S+\/account\/login#\S+\n$/
const UNTESTED =
  /^test 2: no attempt has ended after 12 s: `highwater ops signal 2 acme` shows every attempt\n$/

/** In this order: each needs what those before it have left. Nothing delivers here, so that the test signal is not acknowledged. */
const STEPS: readonly Step[] = casesOf<Row>`
add_client -> POST /ops/clients -> ${ADDED} -> clients add acme --tier pro --aliases alder,hidden -> ${/status: pending/} -> ${{ form: { id: ' acme ', tier: 'pro', aliases: ' alder,  hidden ' }, changes: { ...NONE, tier: 'pro', aliases: ['alder', 'hidden'] } }}
activate -> POST ${ACME}/activate -> ${NO} -> clients activate acme -> ${/status: active/} -> ${{ changes: { status: 'active' } }}
entitle -> POST ${ACME}/entitlements -> ${ENTITLED} -> clients entitle acme --set alder,birch --program --email desk@example.org -> ${/aliases: alder, birch\n(?:.*\n)*email: desk@example\.org\n/} -> ${{ form: { aliases: 'alder birch', program: 'yes', email: 'desk@example.org' }, changes: { aliases: ['alder', 'birch'], program: true } }}
link_client -> POST ${ACME}/link -> ${NO} -> clients link acme -> ${LINKED} -> ${{ secret: /hw_link_[\w-]+/ }}
issue_key -> POST ${ACME}/keys -> ${NO} -> keys issue acme -> ${/^key \w{8}, shown this once:\nhw_live_\w+\n$/} -> ${{ secret: /hw_live_\w+/, changes: { keys: ['KEY'] } }}
confirm_key -> POST /ops/keys/KEY/confirm -> ${NO} -> keys confirm KEY -> ${/key id: KEY\n/} -> ${{ form: null }}
set_webhook -> PUT ${ACME}/webhook -> ${{ url: URL_OF }} -> webhook set acme ${URL_OF} -> ${/secret, shown this once:\nwhsec_\S+\n$/} -> ${{ form: { url: URL_OF }, secret: SECRET_SHOWN, changes: ENABLED }}
rotate_webhook -> POST ${ACME}/webhook/rotate -> ${NO} -> webhook rotate acme -> ${/whsec_/} -> ${{ asks: 'Make a new secret for the webhook of acme?', secret: SECRET_SHOWN }}
test -> POST ${ACME}/test -> ${NO} -> test acme -> ${UNTESTED} -> ${{}}
disable_webhook -> POST ${ACME}/webhook/disable -> ${{ why: 'holiday' }} -> webhook disable acme --why holiday -> ${/disabled why: holiday/} -> ${{ asks: 'Disable the webhook of acme?', changes: { webhook: { enabled: false, waiting: 0 } } }}
enable_webhook -> POST ${ACME}/webhook/enable -> ${NO} -> webhook enable acme -> ${/enabled: true/} -> ${{ changes: ENABLED }}
replay -> POST ${ACME}/replay?from=1 -> ${NO} -> replay acme --from 1 -> ${/owed again: 2\n/} -> ${{ form: { from: '1' }, asks: 'Send 2 signals again?', changes: { webhook: { enabled: true, waiting: 2 } } }}
suspend -> POST ${ACME}/suspend -> ${NO} -> clients suspend acme -> ${/status: pending/} -> ${{ asks: 'Suspend acme?', changes: { status: 'pending', suspended: true } }}
remove_webhook -> DELETE ${ACME}/webhook -> ${NO} -> webhook remove acme -> ${/^removed\n$/} -> ${{ asks: 'Remove the webhook of acme?', changes: { webhook: null } }}
revoke_key -> POST /ops/keys/KEY/revoke -> ${NO} -> keys revoke KEY -> ${/key id: KEY\n/} -> ${{ asks: 'Revoke the key KEY of acme?', changes: { keys: [] } }}
halt -> POST /ops/live/halt -> ${NO} -> live halt -> ${/halted: \*/} -> ${{ ...EVERY, asks: 'Halt every strategy?', changes: { halted: ['*'] } }}
resume -> POST /ops/live/resume -> ${{ alias: '*' }} -> live resume -> ${/halted: none/} -> ${{ ...EVERY, changes: { halted: [] } }}
rollback -> POST /ops/rollback -> ${{ version: OLD }} -> rollback ${OLD} -> ${/^version: 2026-11-20T00:15:00Z\n$/} -> ${{ form: { version: OLD }, asks: `Serve ${OLD} again?`, subject: OLD }}
issue_token -> POST /ops/tokens -> ${ISSUED} -> tokens add jane --scopes read,fire:alder -> ${/hw_op_[\w-]+/} -> ${{ form: { name: 'jane', scopes: 'read fire:alder' }, subject: 'jane', secret: /hw_op_[\w-]+/ }}
revoke_token -> DELETE /ops/tokens/jane -> ${NO} -> tokens revoke jane -> ${/jane/} -> ${{ asks: 'Revoke the token of jane?', subject: 'jane' }}`.map(
  ([action, asked, body, line, prints, more]) => {
    const [method = '', path = ''] = asked.split(' ')
    return { action, json: [method, path, body], ops: [line, prints], ...more }
  },
)

/** Does a step, expects what is particular to the front end, and gives what it shows; null where it cannot do it. */
type FrontEnd = (step: Step) => Promise<string | null>

const parts = () => operatorParts(redis, { random: randomBytes })

async function openJson(): Promise<FrontEnd> {
  return async ({ action, json: [method, path, body] }) => {
    const { status, text } = await call(method, path, body)
    expect([action, status]).toEqual([action, expect.toBeOneOf([200, 201])])
    return text
  }
}

async function openCommands(): Promise<FrontEnd> {
  const { url, close } = await listenOperator(parts(), '127.0.0.1', 0)
  atEnd(close)
  return async ({ action, ops: [line, prints] }) => {
    const env = { OPERATOR_URL: url, OPERATOR_TOKEN: TOKEN }
    const { code, out } = await run(['ops', ...line.split(' ')], { env })
    expect([action, code, out]).toEqual([action, action === 'test' ? 1 : 0, expect.stringMatching(prints)])
    return out
  }
}

/** Where the form of an action is sent to, which is asked for at an address of the JSON interface. */
function formOf(action: string, asked: string): string {
  const { path, route } = OPERATOR_FORMS.forms.find(each => each.route.id === action)!
  const pattern = new RegExp(`^${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
  const variables: Record<string, string> = { client: 'acme', ...pattern.exec(asked.split('?')[0]!)?.groups }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variables[name]!)
}

async function openPage(): Promise<FrontEnd> {
  const page = operatorBrowser(parts())
  await page.logIn()
  const { csrf } = await page.get('/ops')
  return async ({ action, form: given = {}, asks, json: [, asked], secret }) => {
    if (given === null) return null
    const path = formOf(action, asked)
    let fields: Record<string, string> = { ...given, csrf }
    if (asks !== undefined) {
      const before = await everything()
      const asked = await page.post(path, fields)
      expect([asked.status, asked.text]).toEqual([200, expect.stringContaining(`<h1>${asks}</h1>`)])
      expect(await everything()).toEqual(before)
      const inputs = asked.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)
      fields = Object.fromEntries(Array.from(inputs, ([, name = '', value = '']) => [name, value]))
      expect(fields).toEqual({ ...given, csrf, confirm: 'yes' })
    }
    const { status, headers, text } = await page.post(path, fields)
    expect([path, status, headers.get('cache-control')]).toEqual([path, secret ? 200 : 303, 'no-store'])
    return text
  }
}

/** What Redis has, apart from sessions. */
async function everything(): Promise<readonly (readonly [string, string | undefined])[]> {
  const keys = (await redis.keys('*')).filter(key => !key.includes('session')).sort()
  return Promise.all(keys.map(async key => [key, (await redis.dumpBuffer(key))?.toString('hex')] as const))
}

/** The same with the id of the key in the place of `KEY`. */
function withKey<Value>(value: Value, key: string): Value {
  if (typeof value === 'string') return value.replaceAll('KEY', key) as Value & string // it stays a text
  if (value instanceof RegExp) return new RegExp(withKey(value.source, key)) as Value & RegExp // and an expression one
  if (Array.isArray(value)) return value.map(each => withKey(each, key)) as Value & unknown[] // and a list a list
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withKey(each, key)])) as Value // of the same fields
}

test.each([
  ['the JSON interface', openJson],
  ['the command line', openCommands],
  ['the page', openPage],
] as const)(
  'each action through %s has its effect, is logged once, shows its secret this once, and is confirmed first if it must be',
  async (_name, open) => {
    const perform = await open()
    await redis.set(RELAY_CURSOR, 2) // as a relay leaves it once it has passed both tests
    let logged = 0
    let state: SubjectState = {}
    const secrets: string[] = []
    for (const raw of STEPS) {
      const [before] = await listKeys(redis, 'acme')
      const shown = await perform(withKey(raw, before?.id ?? ''))
      if (shown === null) continue
      const rows = await newest()
      const [after] = await listKeys(redis, 'acme')
      const { action, subject = 'acme', secret, changes = {} } = withKey(raw, (before ?? after)?.id ?? '')
      if (subject === 'acme') state = { ...state, ...changes }
      const expected = subject === 'acme' ? state : subject === '*' ? changes : null
      expect(rows[0]).toMatchObject({ action, subject, who: 'operator', outcome: 'done', after: expected })
      expect([action, rows.length]).toEqual([action, ++logged])
      const found = secret?.exec(shown)?.[0]
      expect([action, found === undefined]).toEqual([action, secret === undefined])
      if (found !== undefined) secrets.push(found)
      const client = await call('GET', ACME)
      for (const hidden of secrets) expect(client.text + JSON.stringify(rows)).not.toContain(hidden)
    }
    expect(secrets.length).toBeGreaterThan(2)
  },
)

test('each route that changes something is among the actions, and each form of the page is one of them', () => {
  const changing = OPERATOR_ROUTES.filter(({ method }) => method !== 'GET').map(({ id }) => id)
  const apart = ['fire', 'mode'] // what fires needs a clock that agrees with Redis, and the page sets no mode
  expect([...STEPS.map(({ action }) => action), ...apart].sort()).toEqual(changing.toSorted())
  const forms = STEPS.filter(({ form }) => form !== null).map(({ action }) => action)
  expect([...forms, 'fire'].sort()).toEqual(OPERATOR_FORMS.forms.map(({ route }) => route.id).sort())
})

const fill = (path: string): string => {
  const variables: Readonly<Record<string, string>> = { client: 'acme', key: '00000000', name: 'jane' }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variables[name] ?? '1')
}

test.each(OPERATOR_ROUTES.filter(({ method }) => method !== 'GET').map(route => [route.id, route] as const))(
  'the action %s is logged once if it is refused, too, and whatever is sent with it names no other subject and leaves no secret',
  async (id, { method, path, body }) => {
    for (const client of ['acme', 'victim']) await addClient(redis, client, ['alder'], seededBytes(client))
    const query = 'client=victim&id=victim&alias=victim&name=victim&token=very-private'
    const unknown = { client: 'victim', token: 'very-private', sekret: 'very-private' }
    const { status } = await call(method, `${fill(path)}?${query}`, body && unknown)
    const outcome = status < 300 ? 'done' : expect.not.stringMatching(/^done$/)
    const log = await newest()
    expect(log).toMatchObject([{ seq: 1, who: 'operator', action: id, outcome }])
    expect(log[0]?.subject).not.toBe('victim')
    expect(JSON.stringify(log)).not.toContain('very-private')
  },
)

test('a client that is added is the subject of its log, and what the route does not declare is a name in it', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await call('POST', '/ops/clients?client=acme&id=acme', { id: 'newone' })
  await call('POST', '/ops/clients', { id: 'other', aliases: [{ token: 'very-private' }], sekret: 'x' })
  await call('DELETE', `/ops/tokens/${TOKEN}`)
  await call('POST', '/ops/clients', { id: 'x'.repeat(100_000), tier: 1, ['y'.repeat(100_000)]: 1 })
  expect(JSON.stringify(await newest()).length).toBeLessThan(10_000)
  const request = { id: 'other', aliases: '***', sekret: '***' }
  expect((await newest()).slice(1)).toMatchObject([
    { action: 'revoke_token', subject: null, request: { name: '***' } },
    { action: 'add_client', subject: 'other', request, outcome: 'validation_error' },
    { subject: 'newone', before: null, request: { id: 'newone', '?client': '***', '?id': '***' } },
  ])
})

let issued = 0

/** The header of a new token with some scopes. */
async function holding(...scopes: readonly string[]) {
  const { json } = await call('POST', '/ops/tokens', { name: `operator-${++issued}`, scopes })
  const { token } = (json as { data: { token: string } }).data
  return { token, header: { authorization: `Bearer ${token}` } }
}

test.each(OPERATOR_ROUTES)(
  'the route $method $path is opened by the scope that it declares, and a refusal names that and is logged',
  async ({ id, method, path, body, scope }) => {
    for (const given of ['read', 'fire', 'clients', 'everything']) {
      const { header } = await holding(given)
      const { status, json } = await call(method, fill(path), body && {}, header)
      const isOpen = given === scope || given === 'everything'
      expect([given, status === 403]).toEqual([given, !isOpen])
      if (isOpen) continue
      expect(json).toMatchObject({ error: { message: expect.stringContaining(`the scope ${scope}, got`) } })
      if (method !== 'GET') expect((await newest())[0]).toMatchObject({ action: id, outcome: 'forbidden' })
    }
  },
)

test('a token of an earlier release, which has no scopes, opens everything', async () => {
  const record = JSON.stringify({ digest: digestOf('an-old-token'), created_at: '2026-01-01T00:00:00Z' })
  await redis.hset(OPERATOR_TOKENS, 'old', record)
  const header = { authorization: 'Bearer an-old-token' }
  expect((await call('POST', '/ops/live/halt', undefined, header)).status).toBe(200)
})

test('a token to fire one strategy fires that one alone', async () => {
  const { header } = await holding('fire:alder', 'fire:elm')
  const fire = (alias: unknown) => call('POST', '/ops/signals', { alias }, header)
  expect([(await fire('alder')).status, (await fire('elm')).status]).toEqual([422, 422])
  for (const other of ['birch', 'alder ', ['alder'], undefined]) expect((await fire(other)).status).toBe(403)
  expect((await fire('birch')).text).toContain('expected a token with the scope fire:birch, got that of')
})

test('the page shows and does what the scopes of its token allow, says which scope it lacks, and needs that to read', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const formsOf = async (...scopes: readonly string[]) => {
    const page = operatorBrowser(parts())
    await page.logIn((await holding(...scopes)).token)
    const { csrf, text } = await page.get(PAGE)
    const live = await page.get('/ops/view/live')
    const sent = [
      await page.post(`${PAGE}/suspend`, { csrf }),
      await page.post('/ops/view/live/halt', { csrf, alias: 'alder', why: 'a storm' }),
    ]
    const shown = [text, live.text].map(each => each.match(/action="\/ops\/view\//g)?.length ?? 0)
    const lacks = [text, live.text].map(each => /a token with the scope <code>(\w+)/.exec(each)?.[1])
    return [...shown.map(count => count > 0), ...lacks, ...sent.map(({ status }) => status)]
  }
  expect(await formsOf('read')).toEqual([false, false, 'clients', 'everything', 403, 403])
  expect(await formsOf('read', 'clients')).toEqual([true, false, undefined, 'everything', 200, 403])
  expect(await formsOf('read', 'everything')).toEqual([true, true, undefined, undefined, 200, 303])
  const refused = await operatorBrowser(parts()).logIn((await holding('clients')).token)
  expect([refused.status, refused.headers.get('set-cookie')]).toEqual([403, null])
})

test('a logged action has its subject, what was asked for, and the state before and after, and the log is read page by page, newest first', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await call('POST', `${ACME}/suspend`)
  await call('POST', '/ops/live/halt', { alias: 'alder' })
  await call('POST', '/ops/live/halt', { alias: 'nothing' })
  expect(await newest()).toMatchObject([
    { seq: 3, action: 'halt', subject: 'nothing', outcome: 'validation_error' },
    { seq: 2, action: 'halt', subject: 'alder', before: { halted: [] }, after: { halted: ['alder'] } },
    { seq: 1, action: 'suspend', subject: 'acme', before: { status: 'active' }, after: { suspended: true } },
  ])
  const first = await readActions(redis, { limit: 2 })
  expect([first.rows.map(({ seq }) => seq), first.next]).toEqual([[3, 2], 2])
  const last = await readActions(redis, { before: 2, limit: 2 })
  expect([last.rows.map(({ seq }) => seq), last.next]).toEqual([[1], null])
})

test('the log names a key by its id, also if it was given whole, and has its client before and after', async () => {
  const { token, keyId } = await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  await call('POST', `/ops/keys/${token}/confirm`)
  await call('POST', `/ops/keys/${token}/revoke`)
  await call('POST', '/ops/keys/no-key-at-all/revoke')
  const log = await newest()
  expect(log).toMatchObject([
    { action: 'revoke_key', subject: null, outcome: 'validation_error', request: { key: '***' } },
    { subject: 'acme', request: { key: keyId }, before: { keys: [keyId] }, after: { keys: [] } },
    { action: 'confirm_key', subject: 'acme', request: { key: keyId } },
  ])
  expect(JSON.stringify(log)).not.toContain(token)
})

test('the log has the host of a webhook, and neither the rest of its address nor a secret that was given', async () => {
  await addClient(redis, 'acme', ['alder'], seededBytes('acme'))
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const url = 'https://hooks.example.org/in?key=very-private'
  expect((await call('PUT', `${ACME}/webhook`, { url, secret })).status).toBe(200)
  const log = JSON.stringify(await newest())
  for (const hidden of [secret, 'very-private']) expect(log).not.toContain(hidden)
  expect(log).toContain('hooks.example.org')
})

test('every action is written to the private store once, also by copies that are asked for at one time and after the store was away', async () => {
  const store = await openStore(`file://${await temporaryFolder()}`)
  await redis.set(EPOCH, 'e1')
  for (const alias of ['alder', 'birch']) await call('POST', '/ops/live/halt', { alias })
  const away = { ...store, create: () => Promise.reject(new Error('away')) }
  await expect(createActionCopy(redis, away)()).rejects.toThrow('away')
  let tried = 0
  const create: typeof store.create = (...args) => {
    tried++
    return store.create(...args)
  }
  const copy = createActionCopy(redis, { ...store, create })
  await Promise.all([copy(), copy(), copy()])
  await copy()
  expect(tried).toBe(2)
  const keys = await store.list('audit/')
  expect(keys).toEqual(['audit/e1/0000000001.json', 'audit/e1/0000000002.json'])
  const bytes = await store.read(keys[1]!)
  expect(JSON.parse(new TextDecoder().decode(bytes!))).toEqual((await newest())[0])
})

test('the audit log is copied twice if a hundred copies are asked for while one hangs', async () => {
  const store = await openStore(`file://${await temporaryFolder()}`)
  await call('POST', '/ops/live/halt', { alias: 'alder' })
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const create: typeof store.create = (...args) => gate.then(() => store.create(...args))
  let copies = 0
  const counted = meddledWith(redis, (run, command) => {
    if (command === 'llen') copies++
    return run()
  })
  const copy = createActionCopy(counted, { ...store, create })
  const first = copy()
  await expect.poll(() => copies).toBe(1)
  const others = Array.from({ length: 100 }, copy)
  open()
  await Promise.all([first, ...others])
  expect(copies).toBe(2)
})

test('a named token is named in the log, and once it is revoked it opens nothing, nor does its session after another token of its name, and what its links set is named', async () => {
  const issued = await call('POST', '/ops/tokens', { name: 'jane' })
  const { token } = (issued.json as { data: { token: string } }).data
  expect((await call('POST', '/ops/tokens', { name: 'jane' })).status).toBe(409)
  expect((await call('POST', '/ops/tokens', { name: 'operator' })).status).toBe(409)
  expect((await call('GET', '/ops/tokens')).text).toContain('"name":"jane","scopes":["everything"]')
  expect(JSON.stringify(await redis.hgetall('{hw}:ops-tokens'))).not.toContain(token)
  const asJane = (method: string, path: string, body?: object) =>
    call(method, path, body, { authorization: `Bearer ${token}` })
  expect((await asJane('POST', '/ops/live/halt', { alias: 'alder' })).status).toBe(200)
  expect((await newest())[0]).toMatchObject({ who: 'jane', action: 'halt' })
  const page = operatorBrowser(parts())
  await page.logIn(token)
  const { csrf } = await page.get('/ops/view/live')
  await page.post('/ops/view/live/halt', { csrf, alias: 'birch', confirm: 'yes' })
  expect((await newest())[0]).toMatchObject({
    ...{ who: 'jane', action: 'halt', subject: 'birch', outcome: 'done' },
  })
  expect((await call('DELETE', '/ops/tokens/jame')).status).toBe(404)
  const { id: linked } = await addClient(redis, 'linked', ['alder'], seededBytes('linked'))
  await setWebhook(redis, linked)
  await setSettings(redis, testBox(), linked, { filter: ['alder'] }, { kind: 'link', id: 'jane' })
  expect((await call('DELETE', '/ops/tokens/jane')).json).toMatchObject({ data: { endpoints: [linked] } })
  expect(await redis.keys('*session*')).toEqual([])
  await call('POST', '/ops/tokens', { name: 'jane' })
  expect((await asJane('GET', '/ops/status')).status).toBe(401)
  const after = await page.get('/ops')
  expect([after.status, after.headers.get('location')]).toEqual([303, '/ops/login?ended'])
})
