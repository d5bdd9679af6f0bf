import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { libraryPath, runProgram, unpacked } from './programs.ts'
import { type PinnedServer, processorSeconds } from './servers.ts'

// wrk: requests over connections that stay open, as many as the server answers.

/** Load on an address of a server from one core. */
export type Load = {
  readonly server: PinnedServer
  readonly path: string
  readonly seconds: number
  readonly connections: number
  readonly headers: Readonly<Record<string, string>>
  /** A Lua program for wrk where each request is another one. */
  readonly script?: string
  /** The status of every answer; 200 where nothing is said. */
  readonly status?: number
}

export type Answered = Round & { readonly p99Ms: number }

/** The core of the client; the server has the other one. */
const CLIENT_CORE = '1'

/** Puts load on a server. Rejects where an answer has another status, because then it is not what is measured. */
export async function load(order: Load): Promise<Answered> {
  const { server, path, seconds, connections, headers, script, status = 200 } = order
  const folder = await unpacked('wrk', 'wrk')
  const url = server.url + path
  const args = [
    ...['-c', CLIENT_CORE, join(folder, 'usr/bin/wrk'), '--latency', '--timeout', '30s'],
    ...['-t1', `-c${connections}`, `-d${seconds}s`],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(script === undefined ? [] : ['-s', script]),
  ]
  await assertStatus(url, headers, status)
  const before = await processorSeconds(server.pid)
  const printed = await runProgram('taskset', [...args, url], libraryPath(folder))
  const used = (await processorSeconds(server.pid)) - before
  if (/Non-2xx|Socket errors/.test(printed) && status < 300)
    throw new Error(`wrk did not go well:\n${printed}`)
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1]),
    perProcessorSecond: Number(/(\d+) requests in/.exec(printed)?.[1]) / used,
    p99Ms: toMs(/99%\s+([\d.]+)(\w+)/.exec(printed)),
  }
}

/** wrk counts statuses in two kinds only, so one answer is looked at before. */
async function assertStatus(
  url: string,
  headers: Readonly<Record<string, string>>,
  status: number,
): Promise<void> {
  const answer = await fetch(url, { headers })
  await answer.arrayBuffer()
  if (answer.status !== status) throw new Error(`${url} answered ${answer.status}, expected ${status}`)
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 }
const toMs = (found: RegExpExecArray | null): number =>
  Number(found?.[1]) * (UNIT_MS[found?.[2] ?? ''] ?? NaN)

/** Decimals of a level: enough that no level comes twice, and nothing is found in a cache. */
const LEVEL_DIGITS = 12

/** Writes a program for wrk that asks for an address at another risk level each time; `path` holds `LEVEL` for it. */
export async function writeLevels(file: string, path: string): Promise<string> {
  const lines = [
    'math.randomseed(os.time())',
    'local level = 0.01 + math.random() * 0.001',
    'request = function()',
    '  level = level + 0.00000000127',
    `  local path = string.gsub('${path}', 'LEVEL', string.format('%.${LEVEL_DIGITS}f', level))`,
    "  return wrk.format('GET', path)",
    'end',
    '',
  ]
  await writeFile(file, lines.join('\n'))
  return file
}

/** The result of a round: answers per second, and answers per second of the server's processor time. */
export type Round = { readonly perSecond: number; readonly perProcessorSecond: number }

/** What does a round of one side of a comparison. */
export type Side = () => Promise<Round>

/** Medians of the rounds of both sides, and the ratio of the first to the second. */
export type Compared = { readonly first: Round; readonly second: Round; readonly ratio: number }

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/**
 * Rounds of two sides in turns, each time in the other order, after one that does not count. The ratio is that of
 * answers for the same processor time, the median over rounds side by side: what disturbs one disturbs its neighbour.
 * Where nothing disturbs, a server under full load has its core for itself, and the ratio of answers a second is the same.
 */
export async function compareSides(first: Side, second: Side, rounds: number): Promise<Compared> {
  const results: [Round[], Round[]] = [[], []]
  for (let i = -1; i < rounds; i++) {
    for (const side of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const round = await [first, second][side]!()
      if (i >= 0) results[side].push(round)
    }
  }
  return {
    first: medianRound(results[0]),
    second: medianRound(results[1]),
    ratio: median(results[0].map((round, i) => round.perProcessorSecond / results[1][i]!.perProcessorSecond)),
  }
}

const medianRound = (rounds: readonly Round[]): Round => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  perProcessorSecond: median(rounds.map(({ perProcessorSecond }) => perProcessorSecond)),
})
