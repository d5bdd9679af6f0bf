// wrk: requests over connections that stay open, as many as the server answers.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { libraryPath, unpacked } from './packages.ts'
import type { PinnedServer } from './pinned-server.ts'
import { processorSeconds } from './process-use.ts'
import type { Round } from './rounds.ts'
import { runProgram } from './run-program.ts'

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
