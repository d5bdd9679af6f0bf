import type { Answered } from '#api/history/answered.ts'
import { LOG_LEVELS, type SignalsEnvironment } from '../signals-variables.ts'
import type { Surroundings } from '../surroundings.ts'

/** Lines that are written together: a call of the system for each would cost more than the answer that it tells of. */
const BATCH_CHARS = 32 << 10

/** A line is written this long after it was made, at the most. */
const FLUSH_MS = 100

/** From here on an answer is a fault on our side, or a refusal of a whole service. */
const FIRST_FAULT = 500

export type AccessLog = {
  readonly onAnswered: (answered: Answered) => void
  /** Writes what waits. To be called at the end. */
  readonly flush: () => void
}

/**
 * A line of JSON a request on a stream, of the form that pino gives the other lines: which route, what kind of answer, which
 * version, how long, how many bytes. Addresses and queries are not in it, and nothing else that a client sent but the name
 * of its request, in hexadecimal digits. A line is put together by hand: pino takes five microseconds for it, a twentieth of
 * an answer from memory, and this a fifth of one. Nothing in it needs escaping.
 */
export function createAccessLog(
  level: SignalsEnvironment['logLevel'],
  stream: Surroundings['logStream'],
  now: () => number,
): AccessLog {
  const batch = createBatch(stream)
  const isTold = toldFrom(level)
  const timeOf = createTimes()
  return {
    onAnswered(answered) {
      const own = answered.status < FIRST_FAULT ? 'info' : 'warn'
      if (isTold[own]) batch.write(lineOf(own, timeOf(now()), answered))
    },
    flush: batch.flush,
  }
}

/** Which levels a log of a level tells. */
function toldFrom(level: SignalsEnvironment['logLevel']): { readonly info: boolean; readonly warn: boolean } {
  const least = LOG_LEVELS.indexOf(level)
  return { info: least <= LOG_LEVELS.indexOf('info'), warn: least <= LOG_LEVELS.indexOf('warn') }
}

const lineOf = (
  level: string,
  time: string,
  { request_id, method, route, kind, version, status, ms, bytes }: Answered,
): string =>
  `{"level":"${level}","time":"${time}","request_id":"${request_id}","method":"${method}","route":"${route}",` +
  `"kind":"${kind}","version":${version === null ? 'null' : `"${version}"`},"status":${status},"ms":${ms},` +
  `"bytes":${bytes},"msg":"request"}\n`

/** Many requests share a millisecond, and its name costs more than the rest of a line. */
function createTimes(): (ms: number) => string {
  let last = { ms: Number.NaN, text: '' }
  return ms => {
    if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() }
    return last.text
  }
}

function createBatch(stream: Surroundings['logStream']) {
  let waiting = ''
  let timer: NodeJS.Timeout | null = null
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (waiting !== '') stream.write(waiting)
    waiting = ''
  }
  return {
    write(line: string) {
      waiting += line
      if (waiting.length >= BATCH_CHARS) flush()
      else timer ??= setTimeout(flush, FLUSH_MS)
    },
    flush,
  }
}
