import { spawn } from 'node:child_process'
import { z } from 'zod'
import { cacheTag } from '#core/contract/caching.ts'
import type { PurgeDue } from '#static-build/purge-due.ts'

/** The caches in front of the service: how they are purged, and where one sees what they answer. */
export type Cdn = {
  /** Addresses that take the method PURGE with tags in the header xkey, as `deploy/varnish` does. */
  readonly purgeUrls: readonly string[]
  /** A shell command that purges what carries one of the tags in PURGE_TAGS; null where there is none. */
  readonly purgeCommand: string | null
  /** Where to ask as users do, without a slash at the end. */
  readonly urls: readonly string[]
}

/** The CDN of an environment, null where none is purged. One that is purged at its own address is looked at there too. */
export function toCdn(
  purgeUrls: readonly string[],
  purgeCommand: string | null,
  lookUrls: readonly string[],
): Cdn | null {
  if (purgeUrls.length === 0 && purgeCommand === null) return null
  const urls = lookUrls.length === 0 ? purgeUrls : lookUrls
  return { purgeUrls, purgeCommand, urls: urls.map(url => url.replace(/\/+$/, '')) }
}

/** The CDN, or the tier behind it, did not do what was asked: a sentence without a secret in it. */
export class CdnError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'CdnError'
  }
}

/** An answer that no cache keeps (`no-store`), so that it tells which version the tier serves. */
const UNCACHED_PATH = '/readyz'

/** An answer that every cache keeps. */
const CACHED_PATH = '/v1/dataset'

/** A cache that answers later is as good as down. */
const ANSWER_TIMEOUT_MS = 10_000

/** Tools of CDNs wait until every place of theirs has heard of it. */
const COMMAND_TIMEOUT_MS = 60_000

/** Carried by everything that is not pinned: `deploy/varnish/highwater.vcl` adds it. */
const UNPINNED_TAG = 'unpinned'

/** Throws a CdnError where the tier, asked through the CDN, does not serve the version. */
export const assertServed = ({ urls }: Cdn, version: string): Promise<void> =>
  assertShown(urls, UNCACHED_PATH, version)

/** Throws a CdnError where the CDN gives an answer of another version that it may have kept. */
export const assertPurged = ({ urls }: Cdn, version: string): Promise<void> =>
  assertShown(urls, CACHED_PATH, version)

/** Purges answers of other versions from every cache. Throws a CdnError where one did not take it. */
export async function purge(cdn: Cdn, due: PurgeDue, env: NodeJS.ProcessEnv): Promise<void> {
  for (const url of cdn.purgeUrls) await purgeByRequest(url)
  if (cdn.purgeCommand !== null) await purgeByCommand(cdn.purgeCommand, due, env)
}

/** As much of any answer as tells its version; one that is in no envelope tells none. */
const anyAnswer = z.object({ meta: z.object({ dataset_version: z.string().nullable() }) })

async function assertShown(urls: readonly string[], path: string, version: string): Promise<void> {
  for (const url of urls) {
    const { status, text } = await request(url + path, {})
    const shown = anyAnswer.safeParse(toJson(text)).data?.meta.dataset_version ?? 'no version'
    if (shown !== version) {
      throw new CdnError(`${placeOf(url)}${path} answers ${status} with ${shown}, not with ${version}`)
    }
  }
}

async function purgeByRequest(url: string): Promise<void> {
  const { status } = await request(url, { method: 'PURGE', headers: { xkey: UNPINNED_TAG } })
  if (status < 200 || status > 299) throw new CdnError(`${placeOf(url)} answers the purge with ${status}`)
}

async function request(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
    const response = await fetch(url, { ...init, redirect: 'error', signal })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    throw new CdnError(`${placeOf(url)} cannot be asked: ${reasonOf(error)}`, error)
  }
}

/** What it prints may hold a secret, so only how it ended is told. */
async function purgeByCommand(command: string, due: PurgeDue, env: NodeJS.ProcessEnv): Promise<void> {
  const told = { PURGE_TAGS: due.outdated.map(cacheTag).join(' '), PURGE_VERSION: due.version }
  const child = spawn('/bin/sh', ['-c', command], {
    env: { ...env, ...told },
    stdio: 'ignore',
    timeout: COMMAND_TIMEOUT_MS,
  })
  const end = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  if (end !== 0) {
    throw new CdnError(
      `CDN_PURGE_COMMAND ended with ${end}; what it printed is not shown: run it by hand to see`,
    )
  }
}

/** Scheme, host and port: the rest may hold a token. */
const placeOf = (url: string): string => new URL(url).origin

/** `fetch` hides the reason one level down; its own message may quote the address. */
function reasonOf(error: unknown): string {
  if (error instanceof DOMException) return `no answer within ${ANSWER_TIMEOUT_MS / 1000} s`
  const cause = error instanceof Error ? error.cause : null
  return cause instanceof Error ? cause.message || cause.name : 'the request failed'
}

/** Undefined where it is no JSON: then it tells no version. */
function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
