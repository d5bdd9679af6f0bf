// A forger's book in a folder, the commands on it, and what a reader of its store then sees.
import type { Runtime } from '#cli/runtime.ts'
import { toIsoDate, toIsoInstant } from '#core/calendar.ts'
import { NOW_MS } from '../cli/made-up.ts'
import { openBook } from '../cli/own-book.ts'
import { csv } from '../pipeline/night/night-book.ts'

export type Forgery = Awaited<ReturnType<typeof forge>>

/** Writes a book. Its versions are named by the clock unless an option says otherwise. */
export async function forge(files: Readonly<Record<string, string>>) {
  const { folder, stores, change, onStore, file } = await openBook(files)
  const command = (name: string, args: readonly string[], world?: Partial<Runtime>) =>
    onStore([name, ...args], world)
  const read = (path: string, version = toIsoInstant(NOW_MS)) => file(version, path)
  return {
    ...{ folder, stores, command },
    /** Changes files of the book. */
    write: change,
    build: (...args: readonly string[]) => command('build', ['--book', 'book', ...args]),
    /** What is written on a page of a version, without its marks. */
    page: async (path: string, version?: string) => textOf(await read(path, version)),
    /** The data of an answer of a version. */
    data: async (path: string, version?: string): Promise<unknown> =>
      JSON.parse(await read(path, version)).data,
  }
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<(?:script|style|svg)\b.*?<\/(?:script|style|svg)>/gs, ' ')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&gt;', '>')

/** The entries of `accept` that a refusal asks for, with the publisher's reason. */
export const acceptedIn = (refusal: string, reason: string): object[] =>
  [...refusal.matchAll(/accept: \[\{(.+?), count: (\d+), reason: /g)].map(([, fields = '', count]) => ({
    ...Object.fromEntries(fields.split(', ').map(field => field.split(': '))),
    ...{ count: Number(count), reason },
  }))

/** Daily bars with these closes, whose extremes are a percent beyond open and close, as no generated bar has them. */
export function barsOf(closes: readonly number[], first: number): string {
  const rows = closes.map((close, i) => {
    const open = closes[i - 1] ?? close
    const [high, low] = [1.01 * Math.max(open, close), 0.99 * Math.min(open, close)]
    return `${toIsoDate(first + i)}T00:00:00Z,${open},${high.toFixed(4)},${low.toFixed(4)},${close},1`
  })
  return csv('t,o,h,l,c,v', ...rows)
}
