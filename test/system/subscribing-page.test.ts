// The page for subscribers is run as it stands: its shell blocks in order, beside a receiver, against a real service.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { impliedLeverage, signal } from '#core/contract/signal.ts'
import { renderSimulation } from '#core/dataset/resources/program/records.ts'
import { issueKey } from '#signals/clients/api-keys.ts'
import { entitleClient } from '#signals/clients/clients.ts'
import { MOST_REGISTRATIONS } from '#signals/outbox/register-webhook.ts'
import {
  ATTEMPT_TIMEOUT_MS,
  DISABLE_AFTER_ATTEMPTS,
  DISABLE_AFTER_MS,
  PROBE_WAITS_MS,
  RETRY_WAITS_MS,
  SECRET_OVERLAP_MS,
} from '#signals/send/policy.ts'
import { signedHeaders } from '#signals/send/sign.ts'
import { atEnd } from '../support/ends.ts'
import { startProcess } from '../support/history/highwater-process.ts'
import { blocksIn } from '../support/page-blocks.ts'
import type { Exit } from '../support/processes.ts'
import {
  copyKit,
  expectTraded,
  KITS,
  type PullService,
  push,
  settled,
  startPullService,
  startReceiver,
} from '../support/signals/receiver-kit.ts'
import { PROGRAM } from '../support/signals/served-program.ts'
import { fire, NOW_MS, PROGRAM_ALIAS, seededBytes } from '../support/signals/signals.ts'
import { redis, useRedis } from '../support/signals/test-redis.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/subscribing.md'), 'utf8')

const blocks = (language: string) => blocksIn('docs/subscribing.md', language)

const EXAMPLE = blocks('json')[0]!.trimEnd()

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined

let service: PullService
useRedis()
beforeEach(async () => {
  service = await startPullService(redis)
  atEnd(() => service.close())
})

/** All blocks of the page as one shell runs them, with a key and the next one. */
async function runPage(folder: string, key: string, next: string): Promise<Exit> {
  await writeFile(join(folder, 'body.json'), EXAMPLE)
  const script = blocks('sh')
    .join('')
    .replace('https://signals.example.org', service.url)
    .replace('hw_live_your_key', key)
    .replace('hw_live_your_next_key', next)
  expect(script).not.toContain('hw_live_your')
  return startProcess('sh', ['-c', script], { cwd: folder }).ended
}

/** A receiver that has done three signals and a test between them. */
async function receiverAtWork(): Promise<string> {
  const kit = KITS[0]!
  const folder = await copyKit(kit)
  const receiver = await startReceiver(kit, folder, service)
  await receiver.prints(/everything after #0 is read/)
  for (const id of ['a', 'b']) await fire(redis, id, 'alder')
  await fire(redis, 'test', 'alder', 'acme')
  await fire(redis, 'c', 'alder')
  for (const seq of [1, 2, 3, 4]) await push(redis, receiver.url, seq)
  await expectTraded(receiver, [1, 2, 4])
  await settled(redis, receiver)
  receiver.kill('SIGTERM')
  await receiver.ended
  return folder
}

const PAGE_INPUT = { equity_usd: 25_000, contribution_cadence_bars: 30 }

test('the shell blocks of the page for subscribers print the identity, what was signed, what was fired and that nothing is missing, or fail and name the signal that was never processed', async context => {
  for (const tool of ['curl', 'jq', 'openssl'])
    if (!has(tool)) context.skip(`there is no ${tool} on this machine`)
  const { token } = await issueKey(redis, 'acme', seededBytes('next'), NOW_MS)
  await entitleClient(redis, 'acme', { program: true }, PROGRAM_ALIAS)
  const folder = await receiverAtWork()
  const { code, stdout, stderr } = await runPage(folder, service.token, token)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('"client_id": "acme"')
  for (const line of shownHeaders().filter(line => line.includes('ignature')))
    expect(stdout).toContain(`${line}\n`)
  expect(stdout).toContain('[3,"alder","DRY_RUN",true,"long"]\n[4,"alder","LIVE",false,"long"]\n')
  expect(stdout).toContain('/v1/signals/history?limit=2&since=2\n')
  expect(stdout).toContain('schema_version,signal_id,seq,')
  expect(stdout).toContain('"epoch": "first-epoch"')
  expect(stdout).toContain('nothing is missing of 3 signals\n')
  expect(stdout).toContain('"entitled":4,"delivered":0,"missing":[1,2,3,4],"owed":[],')
  expect(stdout).toContain('both lists are the same, up to number 4\n')
  expect(stdout).toContain('["accumulating",7,')
  const { total_usd_deployed, total_btc_accumulated } = renderSimulation(PROGRAM.data, PAGE_INPUT)
  expect(stdout).toContain(`,${total_usd_deployed},${total_btc_accumulated}]\n`) // the basket
  expect(stdout).toContain(`\n[${total_usd_deployed},${total_btc_accumulated}]\n`) // the simulation
  expect(stdout).toMatch(/"retired_key_ids":\["\w{8}"\],"webhook_suspended":false\}\n\w{8}\n$/)
  await fire(redis, 'overlooked', 'alder')
  const failed = await runPage(folder, token, 'hw_live_never_reached')
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(/missing:\noverlooked\n$/)])
})

const shownHeaders = (): string[] => blocks('http')[0]!.trimEnd().split('\n')

test('the example of the page for subscribers is a signal, signed as the service signs it', () => {
  const { signal_id, seq, signal_price, stop, base_risk_pct, implied_leverage } = signal.parse(
    JSON.parse(EXAMPLE),
  )
  expect(implied_leverage).toBe(impliedLeverage(signal_price, stop, base_risk_pct))
  const [secret = ''] = /whsec_[A-Za-z0-9+/=]{44}/.exec(PAGE) ?? []
  const shown = Object.fromEntries(shownHeaders().map(line => line.split(': ')))
  const sentAtMs = 1000 * Number(shown['webhook-timestamp'])
  const body = new TextEncoder().encode(EXAMPLE)
  const signed = signedHeaders({ body, id: signal_id, seq, prevSeq: 40, attempt: 1, sentAtMs }, [secret])
  for (const [name, value] of Object.entries(shown))
    expect([name, signed[name.toLowerCase()]]).toEqual([name, value])
})

test('the worked example of the page for subscribers prints what the page says, and is about the signal of the page', context => {
  if (!has('python3')) context.skip('there is no python3 on this machine')
  const { stdout, stderr } = spawnSync('python3', ['-c', blocks('python')[0]!], { encoding: 'utf8' })
  expect([stdout, stderr]).toEqual([blocks('text')[0], ''])
  const sized = /^signal = (\{.*\})$/m.exec(blocks('python')[0]!)?.[1] ?? ''
  expect(JSON.parse(EXAMPLE)).toMatchObject(JSON.parse(sized.replaceAll(/(\d)_(\d)/g, '$1$2')))
})

test('the page for subscribers has no block that no test runs', () => {
  const languages = [...PAGE.matchAll(/^```(\w+)$/gm)].map(match => match[1])
  expect(new Set(languages)).toEqual(new Set(['sh', 'json', 'http', 'python', 'text']))
})

test('the page for subscribers has the retries, the times and the form of keys of the service', () => {
  const units: Record<string, number> = { s: 1_000, min: 60_000, h: 3_600_000 }
  const [, schedule = ''] = /tried again after (.*?), each 20 %/s.exec(PAGE) ?? []
  const waits = [...schedule.matchAll(/(\d+)\s(s|min|h)\b/g)]
  expect(waits.map(([, count, unit]) => Number(count) * units[unit!]!)).toEqual(RETRY_WAITS_MS)
  expect(MOST_REGISTRATIONS).toBe(5)
  const [first, second, then] = PROBE_WAITS_MS.map(ms => ms / 1_000)
  for (const text of [
    `${RETRY_WAITS_MS.length + 1} attempts in 28 hours`,
    `after ${first} s, after another ${second} s, and every ${then! / 60} min`,
    `${DISABLE_AFTER_MS / 3_600_000} hours without a success`,
    `${DISABLE_AFTER_ATTEMPTS} attempts, switch the webhook off`,
    `Both sign for ${SECRET_OVERLAP_MS / 3_600_000} hours`,
    `after ${ATTEMPT_TIMEOUT_MS / 1_000} s the signal is sent again`,
  ])
    expect(PAGE).toContain(text)
  const [, count] = /`hw_live_` and (\d+) characters/.exec(PAGE) ?? []
  expect(service.token).toMatch(new RegExp(`^hw_live_\\w{${count}}$`))
})

test('the page of the receivers names every setting that their examples read', () => {
  const read = (path: string) => readFileSync(join(ROOT, 'examples/receivers', path), 'utf8')
  for (const path of ['typescript/receiver.ts', 'python/receiver.py']) {
    const names = read(path).matchAll(/(?:env\.|required\(['"]|environ\.get\(")([A-Z][A-Z_]+)/g)
    const settings = new Set([...names].map(([, name = '']) => name))
    expect(settings.size).toBe(12)
    for (const name of settings) expect(read('README.md')).toContain(`\`${name}\``)
  }
})
