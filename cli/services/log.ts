import { type DestinationStream, type LoggerOptions, pino } from 'pino'
import { OUR_SECRETS } from '#signals/clients/token.ts'
import { textForLog } from '#storage/error-code.ts'
import type { Environment } from '../settings/environment.ts'

export type Log = ReturnType<typeof createLog>

/** Texts and numbers only: an object could contain what must not be logged. */
type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Fields whose value is never written. */
const REDACTED = ['token', 'secret', 'authorization', 'cookie', 'api_key', 'url', 'query', 'body']

/** What looks like a secret or a query string, also in the messages of other programs. */
const HIDDEN: readonly RegExp[] = [OUR_SECRETS, /\bbearer\s+\S+/gi, /(?<=:\/\/)[^\s/@]+@/g, /\?[^\s"'`]+/g]

/** The log of a process on a stream, a line of JSON for each event, without the texts of `secrets`. */
export function createLog(
  level: Environment['LOG_LEVEL'],
  destination: DestinationStream,
  now: () => number,
  secrets: readonly string[] = [],
) {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
    formatters: { level: label => ({ level: label }) },
    redact: { paths: REDACTED, censor: '[redacted]' },
  }
  const logger = pino(options, destination)
  const hidden = [...secrets.filter(secret => secret !== ''), ...HIDDEN]
  const clean = (text: string): string =>
    hidden.reduce<string>((rest, each) => rest.replaceAll(each, '[redacted]'), text)
  const cleaned = (fields: LogFields = {}): LogFields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? clean(value) : value]),
    )
  return {
    info: (event: string, fields?: LogFields): void => {
      if (logger.isLevelEnabled('info')) logger.info(cleaned(fields), clean(event)) // a line for each request
    },
    warn: (event: string, fields?: LogFields): void => logger.warn(cleaned(fields), clean(event)),
    /** The stack of a fault of ours is written only here. */
    error: (event: string, error: unknown, fields?: LogFields): void =>
      logger.error({ ...cleaned(fields), error: clean(textForLog(error)) }, clean(event)),
  }
}
