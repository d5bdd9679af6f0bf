// A live record that is made to look better than it was: what its seals, `verify-live` and a client then say.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { toIsoInstant } from '#core/calendar.ts'
import { manifestKey } from '#core/contract/artifacts.ts'
import { pointerKey } from '#core/contract/pointer.ts'
import { openingKey, sealAnchorKey, sealDayKey, sealKey } from '#core/contract/seals.ts'
import type { SignalContent } from '#core/contract/signal.ts'
import { parseReceipts } from '#static-build/audit/audit-live.ts'
import { readDataset } from '#static-build/audit/audit-live-records.ts'
import { openDays } from '#static-build/open-days.ts'
import type { Stores } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { batchSalt, digestOfSeal, itemSalt, splitSeals, toRecord } from '#storage/seals/seal.ts'
import { createSigner, newPrivateKeyPem } from '#storage/signature.ts'
import { copyAll, createMemoryStores, type MemoryStores } from '#test/support/books/publish-in-memory.ts'
import { createTestApp } from '#test/support/history/history-app.ts'
import { start } from '#test/support/http/raw-server.ts'
import { type Chain, createChain, eventItem, signalItem } from '#test/support/seals/chain.ts'
import { openAuthority } from '#test/support/servers/time-stamp-authority.ts'
import { bytesOf } from '#test/support/stores/stored-bytes.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { NOW_MS, run } from '../cli/made-up.ts'
import { bookOf, csv, FIRST_DAY, ledgerOf } from '../pipeline/night/night-book.ts'
import { barsOf, type Forgery, forge } from './forge.ts'

const CLOSES = [100, 101, 99, 98, 97, 99, 103, 105, 106, 104, 103, 105, 104, 106]
const BEGIN = '2024-01-11T00:00:00Z'
const NOW = '2024-01-15T06:00:00Z'
const TEXT = { content_type: 'text/plain' }

const COLUMNS = 'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,account_return'

/** The trades of oak: sealed in time, without a signal, fired by hand. The last signal, which lost, is of none of them. */
const OAK_TRADES = csv(
  COLUMNS,
  'long,2024-01-12T00:00:00Z,105,2024-01-13T00:00:00Z,104,signal,1,-0.00952380952381',
  'long,2024-01-13T00:00:00Z,104,2024-01-13T12:00:00Z,105,signal,1,0.00961538461538',
  'long,2024-01-13T12:00:00Z,105,2024-01-13T18:00:00Z,104,signal,1,-0.00952380952381',
)
const FIR_TRADES = csv(
  COLUMNS,
  'long,2024-01-12T12:00:00Z,104,2024-01-13T12:00:00Z,105,signal,1,0.00961538461538',
)

const signalAt = (seq: number, timestamp: string, more: Partial<SignalContent> = {}) =>
  signalItem(seq, { alias: 'oak', timestamp, ...more })

const FIRST = signalAt(1, '2024-01-12T00:00:00Z')

const ITEMS = {
  '2024-01-11T01:00:00Z': ['fir', 'oak', 'yew'].map(id => eventItem('live', id, '2024-01-11T01:00:00Z')),
  '2024-01-12T00:00:01Z': [FIRST],
  '2024-01-12T10:00:00Z': [eventItem('halt', 'fir', '2024-01-12T10:00:00Z', { why: 'a bad week' })],
  '2024-01-13T12:01:00Z': [signalAt(2, '2024-01-13T12:00:00Z', { by: 'operator:ada' })],
  '2024-01-13T20:00:01Z': [signalAt(3, '2024-01-13T20:00:00Z', { action: 'short' })],
}

const signer = createSigner(newPrivateKeyPem())

/** Seals of an hour, and of ten minutes around each item. */
async function sealAll(
  items: Readonly<Record<string, readonly string[]>>,
  by = signer,
  prepare: (chain: Chain) => void = () => {},
): Promise<Chain> {
  const chain = createChain(createMemoryStores(), BEGIN, { signer: by })
  prepare(chain)
  for (const at of Object.keys(items)) {
    const due = `${at.slice(0, 14)}00:00Z`
    if (Date.parse(due) > Date.parse(BEGIN)) await chain.sealUntil(due, {}, 3_600_000)
    await chain.seal(items[at])
  }
  await chain.sealUntil(NOW, {}, 3_600_000)
  return chain
}

let honest: Chain
let forgery: Forgery
let published: MemoryStores

async function copyBoth<To extends Stores>(from: Stores, to: To): Promise<To> {
  await copyAll(from.store, to.store)
  await copyAll(from.privateStore, to.privateStore)
  return to
}

/** What a build of this chain publishes, in memory. */
async function publish(chain: Chain, oak = OAK_TRADES): Promise<MemoryStores> {
  const book = bookOf(barsOf(CLOSES, FIRST_DAY), [ledgerOf('oak', oak), ledgerOf('fir', FIR_TRADES)])
  forgery = await forge(book)
  const { url, privateUrl } = forgery.stores
  const built = { store: await openStore(url), privateStore: await openStore(privateUrl) }
  await copyBoth(chain, built)
  expect(await forgery.build()).toMatchObject({ code: 0, err: '' })
  return copyBoth(built, createMemoryStores())
}

beforeAll(async () => {
  honest = await sealAll(ITEMS)
  published = await publish(honest)
})

/** A service of a copy of what was published, after a forger changed it. */
async function serve(change: (stores: MemoryStores) => Promise<unknown> = asItIs, of = published) {
  const stores = await copyBoth(of, createMemoryStores())
  await change(stores)
  return (await createTestApp(stores.store, stores.privateStore)).app
}

type Service = { readonly fetch: (request: Request) => Response | Promise<Response> }

const verify = (app: Service, ...args: readonly string[]) => verifyAt(app, NOW_MS, ...args)

async function verifyAt(app: Service, nowMs: number, ...args: readonly string[]) {
  const { url } = await start(async request => app.fetch(request))
  const { code, out, err } = await run(['verify-live', url, ...args], { now: () => nowMs })
  // What failed claims nothing beside its faults.
  for (const [line] of out.matchAll(/^FAILED.*$/gm))
    expect(line).not.toMatch(/each signed|each in its seal|follow from/)
  return { code, out, err, failed: [...out.matchAll(/^ {8} *(.*\S)/gm)].map(([, fault]) => fault) }
}

/** Changes the opening of a day as a text. */
const reopen =
  (date: string, change: (text: string) => string) =>
  async ({ store }: MemoryStores) => {
    const text = Buffer.from(await bytesOf(store, openingKey(date))).toString()
    expect(change(text)).not.toBe(text)
    await store.replace(openingKey(date), Buffer.from(change(text)), TEXT)
  }

/** As the honest publisher publishes what was not as the record says. */
const asItIs = async () => {}

const removing =
  (key: string) =>
  ({ store }: MemoryStores) =>
    store.remove(key)

const removingSeal9 = async ({ store }: MemoryStores) => {
  const others = splitSeals(await bytesOf(store, sealDayKey('2024-01-11'))).toSpliced(8, 1)
  await store.replace(sealDayKey('2024-01-11'), Buffer.concat(others), TEXT)
  await store.remove(sealKey(9))
}

const inserting = reopen('2024-01-14', text => {
  const { batch, items } = toRecord(honest.all[89]!.record, 3, [signalAt(4, '2024-01-14T12:00:00Z')])
  return `${text}${JSON.stringify({ n: 90, batch, items })}\n`
})

const LOST = '{"n":73,"lost":"a broken disk"}\n{"n":74,"batch":"after 3\\n","items":[]}'
const losing = reopen('2024-01-13', text => text.replace(/^\{"n":73.*$/m, LOST))
const leavingOut = reopen('2024-01-13', text => text.replace(/^\{"n":73.*\n/m, ''))
const altering = reopen('2024-01-12', text => text.replace('50000', '49000'))

const REMOVED = 'seal 9 is missing: withheld or removed'
const ALTERED = 'the items of seal 26 and those that are opened of it are not the same'
const notSealed = (n: number) =>
  `what is opened of seal ${n} is not what was sealed: a signal was altered, added or left out`
const LOSING = 'seal 73 is said to be lost, and no chain that begins after it says so'
const withheld = (date: string, why: string) => `the seals of ${date} are not opened, although ${why}`
const SINCE = 'is live since 2024-01-11T01:10:00Z. Entries:'
const OAK = `note: oak ${SINCE} 3, 1 by the strategy in time, 0 late, 1 missed, 0 halted, 1 by hand; signals of no trade: 1`
const FIR = `note: fir ${SINCE} 1, 0 by the strategy in time, 0 late, 0 missed, 1 halted, 0 by hand; signals of no trade: 0`
const YEW = 'note: yew was live and is not in the catalogue: its seals alone are known'
const [FIRST_CLOSED, LAST_CLOSED] = ['2024-01-13', '2024-01-14'].map(date => removing(openingKey(date)))

// Each has the secret, the key and both stores, and changes what is public afterwards.
test.each([
  ['deletes a seal', removingSeal9, REMOVED],
  ['alters a signal after it was sealed', altering, ALTERED],
  ['inserts a signal into a seal that was empty, so that it is dated back', inserting, notSealed(90)],
  ['leaves a signal that lost out of its opening', leavingOut, notSealed(73)],
  ['says that the seal of a loser is lost', losing, LOSING],
  ['withholds the opening of a day', FIRST_CLOSED!, withheld('2024-01-13', 'those of 2024-01-14 are')],
  [
    'withholds the newest opening',
    LAST_CLOSED!,
    withheld('2024-01-14', 'data are published up to 2024-01-14'),
  ],
  ['takes a losing trade out of the ledger', asItIs, OAK],
  ['halts the losers', asItIs, FIR],
  ['goes live with many and shows the best', asItIs, YEW],
])('a publisher who %s: `verify-live` says so', async (_, change, says) => {
  const { code, out, err } = await verify(await serve(change))
  expect(`${out}${err}`).toContain(`${says}\n`)
  expect(code).toBe(change === asItIs ? 0 : 1)
})

const BEGUN_OTHER = 'seal 107 was seen here before and is another one: another chain is shown now'

test('`verify-live` passes what an honest publisher seals and opens, prints what was proven, and warns of a key that comes from him', async () => {
  const { code, out, err } = await verify(await serve())
  expect([out, code]).toEqual([
    `ok      keys        ${signer.keyId}, as it is published there
ok      chain       107 seals from ${BEGIN} to ${NOW}, 102 of more than ten minutes, each signed and with the digest of the one before
ok      times       the newest ended 0 min ago by the publisher's clock; entries of the log of versions that seals name: 0
ok      openings    opened up to 2024-01-14: 3 signals and 4 events, 0 seals lost, 0 holes in the numbers; days that are sealed and not opened: 1
ok      live        strategies that were live: 3, not in the catalogue: 1; /live and /trades follow from the seals
`,
    0,
  ])
  expect(err).not.toContain('another release')
  expect(await readDataset(async () => null)).toBeNull() // a service without a version
  expect(JSON.parse((await verify(await serve(), '--json')).out)).toMatchObject({
    sound: true,
    newest: { n: 107 },
    keys: [{ id: signer.keyId }],
  })
  expect(err).toContain(`note: seal 1 begins the chain highwater/${signer.keyId}/20240111T000000Z\n`)
  expect(err).toMatch(
    /^WARNING: the key comes from the service itself\. Compare its fingerprint [0-9a-f]{64} with one /m,
  )
})

/** What is public of another chain, in place of the honest one. */
const shown = (other: Chain) => async (stores: MemoryStores) => {
  for (const key of await stores.store.list('v1/seals/')) await stores.store.remove(key)
  for (const key of await stores.privateStore.list('seals/')) await stores.privateStore.remove(key)
  await openDays(await copyBoth(other, stores), '2024-01-14')
}

const keep = async () => {
  const folder = await temporaryFolder()
  await writeFiles(folder, { 'key.pem': signer.publicKeyPem })
  const state = join(folder, 'seen.json')
  expect((await verify(await serve(), '--state', state)).code).toBe(0)
  expect((await verify(await serve(), '--state', state)).err).not.toContain('WARNING')
  return { state, key: join(folder, 'key.pem') }
}
test('a publisher who shows one chain to some and another to others: neither the state of a reader nor the receipts of a client are of the other', async () => {
  const { '2024-01-12T10:00:00Z': _halt, ...others } = ITEMS
  const app = await serve(shown(await sealAll({ ...others, '2024-01-12T10:00:00Z': [] })))
  const { state } = await keep()
  expect((await verify(app, '--state', state)).failed[0]).toBe(BEGUN_OTHER)
  const receipts = await receiptsOf(FIRST, honest.all[25]!)
  expect((await verify(await serve(), '--receipts', receipts)).code).toBe(0)
  expect((await verify(app, '--receipts', receipts)).code).toBe(1)
})

test('a publisher who begins again in a fresh store, or cuts the chain off: the key is another one, and what was seen before is gone', async () => {
  const { state, key } = await keep()
  const fresh = createSigner(newPrivateKeyPem())
  const app = await serve(shown(await sealAll(ITEMS, fresh)))
  const says =
    `from seal 1 on the chain is of the key ${fresh.keyId}, which is none of those that are trusted here: name it with --key if the ` +
    'publisher confirms it'
  expect((await verify(app, '--key', key)).failed[0]).toBe(says)
  expect((await verify(app, '--state', state)).failed.slice(0, 2)).toEqual([says, BEGUN_OTHER])
  const cut = await serve(async ({ store }) => {
    await store.remove(sealKey(107))
    await store.replace('v1/seals/head', honest.all[105]!.bytes, TEXT)
  })
  const gone = BEGUN_OTHER.replace('another one', 'gone')
  expect((await verify(cut, '--state', state)).failed[0]).toBe(gone)
})

test('a publisher who says that a seal is lost which he opened: the state of a reader shows it, and once all that is new', async () => {
  const { state } = await keep()
  const more = await sealAll(ITEMS)
  const origin = more.beginAnew()
  await more.seal([eventItem('begin_anew', null, NOW, { why: 'a planned change' })])
  const run = async (change: typeof asItIs | typeof losing = asItIs) => {
    const app = await serve(stores => shown(more)(stores).then(() => change(stores)))
    return verifyAt(app, NOW_MS + 600_000, '--state', state)
  }
  const lost = 'seal 73 was opened when it was seen before, and is said to be lost now'
  expect((await run(losing)).failed).toContain(lost)
  expect((await run()).failed).toEqual([`seal 108 begins the chain ${origin}`])
  expect(await run()).toMatchObject({ code: 0, failed: [] })
})

test('a publisher who makes a chain today and dates it back: one that names later entries of the log of versions is found, and no other', async () => {
  const entry = await bytesOf(published.store, pointerKey(1))
  const differing = ['oak', 'fir'].map(
    id => `/v1/strategies/${id}/live does not follow from what is opened: seals`, // a version has the newest seal
  )
  const chain = await sealAll(ITEMS, signer, made => made.nameEntry(1, digestOfSeal(entry)))
  expect((await verify(await serve(shown(chain)))).failed).toEqual([
    'seal 1 of 2024-01-11T01:00:00Z names an entry of 2024-01-15T06:00:00Z: it is dated back',
    ...differing,
  ])
  const other = await sealAll(ITEMS, signer, made => made.nameEntry(1, digestOfSeal(Buffer.from('another'))))
  expect((await verify(await serve(shown(other)))).failed).toEqual([
    'seal 1 names another entry 1 of the log of versions than is published',
    ...differing,
  ])
  expect((await verify(await serve())).code).toBe(0) // it was made now, too, and names none
})
/** A file with a delivered signal and its receipt, as the client was answered. */
async function receiptsOf(item: string, { seal: { n }, record: { day_key, batch } }: Chain['all'][number]) {
  const folder = await temporaryFolder()
  const row = { seq: 1, n, r: itemSalt(day_key, item, n, 0), s_n: batchSalt(day_key, n), batch }
  const receipts = `${item}\n${JSON.stringify({ data: [row], meta: {}, links: {} })}\n`
  expect(parseReceipts(receipts).rows.size).toBe(1)
  await writeFiles(folder, { receipts })
  return join(folder, 'receipts')
}

test('a publisher who seals another signal than was delivered, or none: the receipts of a client show it', async () => {
  const app = await serve()
  const seal = honest.all[25]!
  const other = FIRST.replace('50000', '50001')
  const faults = async (...args: Parameters<typeof receiptsOf>) =>
    (await verify(app, '--receipts', await receiptsOf(...args))).failed
  const honestly = await verify(app, '--receipts', await receiptsOf(FIRST, seal))
  expect(honestly.out).toMatch(
    /^ok +receipts +delivered signals: 1, sealed at most 10 min after the time in the signal, each in its seal$/m,
  )
  expect(await faults(other, seal)).toEqual(['signal 1 is not in seal 26 as it was delivered'])
  expect(await faults(FIRST, honest.all[26]!)).toEqual(['signal 1 is not in seal 27 as it was delivered'])
  expect(await faults(FIRST, { ...seal, record: { ...seal.record, batch: 'after 0\n' } })).toEqual([
    'the receipt of signal 1 is not of seal 26 of this chain: another chain was shown to its client',
  ])
  const folder = await temporaryFolder()
  await writeFiles(folder, { receipts: `${FIRST}\nnothing\n`, state: '{}' })
  for (const [option, name, says] of [
    ['receipts', 'x', `cannot read the receipts ${folder}/x: ENOENT: `],
    ['key', 'x', `cannot read the key ${folder}/x: ENOENT: `],
    ['state', 'state', `${folder}/state is not a state of \`highwater verify-live\`: name another file with`],
    [
      'receipts',
      'receipts',
      `${folder}/receipts: line 2 is neither a signal nor an answer of /v1/signals/seals`,
    ],
  ] as const) {
    const { out, err } = await verify(app, `--${option}`, join(folder, name))
    expect([out, err]).toEqual(['', expect.stringContaining(says)])
  }
  await writeFiles(folder, { receipts: FIRST })
  expect((await verify(app, '--receipts', join(folder, 'receipts'))).failed).toEqual([
    'signal 1 was delivered and has no receipt: it is not sealed',
  ])
})

test('a publisher who publishes better words and figures than follow from the seals: `verify-live` names them', async () => {
  const { fetch } = await serve()
  const lying = async (request: Request) => {
    const response = await fetch(request)
    const { pathname } = new URL(request.url)
    if (!/oak\/(?:live|trades)$/.test(pathname)) return response
    const text = (await response.text()).replace('"missed":1', '"missed":0').replace('"missed"', '"sealed"')
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  }
  expect((await verify({ fetch: lying })).failed).toEqual([
    '/v1/strategies/oak/live does not follow from what is opened: entries',
    '/v1/strategies/oak/trades: trade 2 is sealed, and missed follows from what is opened',
  ])
})

test('a version of another release has no fault for what only one of the two has: `verify-live` names it in a note', async () => {
  const { fetch } = await serve()
  const older = async (request: Request) => {
    const { pathname } = new URL(request.url)
    const response = await fetch(request)
    if (!/oak\/(?:live|trades)$/.test(pathname)) return response
    const text = await response.text()
    if (pathname.endsWith('trades')) return new Response(text.replaceAll(/,"live":[^},]*/g, ''))
    const renamed = text.replaceAll(',"stamped":null', '').replace('"late":0', '"tardy":0')
    return new Response(renamed.replace(/,"absent":\[[^\]]*\]/, ''))
  }
  const { code, failed, err } = await verify({ fetch: older })
  expect([code, failed]).toEqual([0, []])
  expect(err).toContain(
    'note: /v1/strategies/oak/live was made by another release; not compared: live of trades, entries/late, entries/tardy, seals/absent, signals/stamped\n',
  )
})

test('a publisher who stops to seal or to open, or whose clock is ahead: `verify-live` says so', async () => {
  const app = await serve()
  const at = async (nowMs: number) => (await verifyAt(app, nowMs)).failed
  const old = `seal 107 of ${NOW} is the newest: nothing is sealed since, or newer seals are withheld`
  expect(await at(NOW_MS + 1_200_000)).toEqual([])
  expect(await at(NOW_MS + 1_200_001)).toEqual([old])
  expect(await at(NOW_MS + 2 * 86_400_000)).toEqual([
    old,
    'the seals of 2024-01-15 are not opened, although the embargo of 0 days is over',
  ])
  expect(await at(NOW_MS - 61_000)).toEqual([`seal 107 ends at ${NOW}, which is ahead of this clock`])
})

test('a publisher who begins another chain in the same store: `verify-live` has the reason, or fails if none was sealed', async () => {
  const begun = async (items: readonly string[]) => {
    const chain = createChain(createMemoryStores(), BEGIN, { signer })
    await chain.sealUntil('2024-01-12T00:00:00Z', {}, 3_600_000)
    chain.beginAnew()
    await chain.seal(items)
    await chain.sealUntil(NOW, {}, 3_600_000)
    return verify(await serve(shown(chain)))
  }
  expect((await begun([])).failed[0]).toBe(
    'seal 25 begins another chain, and what was sealed does not say why',
  )
  const { out, err } = await begun([eventItem('begin_anew', null, NOW, { why: 'a broken disk' })])
  expect(out).toMatch(/^ok +openings +opened up to 2024-01-14: 0 signals and 1 events, 0 seals lost/m)
  expect(err).toContain('note: seal 25 begins another chain. Reason: a broken disk\n')
})

test('a version with live records is reproduced byte for byte, also if more days are opened since', async () => {
  const { url, privateUrl } = forgery.stores
  await openDays({ store: await openStore(url), privateStore: await openStore(privateUrl) }, '2024-01-15')
  expect(await (await openStore(url)).has(openingKey('2024-01-15'))).toBe(true)
  const manifest = join(fileURLToPath(url), manifestKey(toIsoInstant(NOW_MS)))
  expect(await forgery.build('--reproduce', manifest)).toMatchObject({ code: 0 })
})

test('a publisher who chooses size and exit of a sealed entry when its result is known: nothing shows it', async () => {
  const other = OAK_TRADES.replace(
    '2024-01-13T00:00:00Z,104,signal,1,-0.00952380952381',
    '2024-01-12T06:00:00Z,105,signal,3,0',
  )
  const { code, err } = await verify(await serve(asItIs, await publish(honest, other)))
  expect(err).toContain('Entries: 3, 1 by the strategy in time')
  expect(code).toBe(0)
})

test('a publisher who states a time of an authority that is not so: `verify-live` says so with the certificate of the authority', async () => {
  const authority = await openAuthority()
  const command = await authority.start()
  const chain = await sealAll(ITEMS)
  const digest = chain.anchored(26)
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    ...{ env: { ...process.env, ENTRY_SHA256: digest }, encoding: 'buffer' },
  })
  await chain.store.create(sealAnchorKey(26), stdout, TEXT)
  const of = await publish(chain)
  expect((await verify(await serve(undefined, of))).err).toContain(
    'note: time stamps name Hand Time Stamps, as the publisher states: check them (1) with --tsa-ca\n',
  )
  const check = async (ca: string, ...given: Parameters<typeof serve>) =>
    verify(await serve(...given), '--tsa-ca', join(authority.folder, ca))
  const { code, out } = await check('ca.pem', undefined, of)
  expect(code).toBe(0)
  expect(out).toMatch(
    /^ok +stamps +by an authority that is trusted here: 1; opened seals with one at or after them: 26 of 100, at most \d+ min after their end$/m,
  )
  expect((await check('other.pem', undefined, of)).failed[0]).toMatch(
    /^\/v1\/seals\/anchors\/000000026 is no time stamp of seal 26 by that authority: /,
  )
  const dated = reopen('2024-01-12', text => text.replace(/"at":"[^"]+"/, '"at":"2024-01-12T00:11:00Z"'))
  expect((await check('ca.pem', dated, of)).failed[0]).toMatch(
    /^the opening says that seal 26 was stamped at 2024-01-12T00:11:00Z, and not so: seal 26: time-stamped by Hand Time Stamps at /,
  )
})
