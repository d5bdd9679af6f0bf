// The history service as a process, asked over HTTP.
import { z } from 'zod'
import type { Stores } from '../books/publish-book.ts'
import { atEnd } from '../ends.ts'
import type { Running } from '../processes.ts'
import { s3Env } from '../stores/s3-stores.ts'
import { type StartOptions, startHighwater } from './highwater-process.ts'

export type ServingProcess = Running & { readonly url: string }

const ADDRESS = /^history service on (http:\/\/\S+)$/m

/**
 * Starts `serve history`, or another command that serves, on a free port, and waits until it listens. It is taken for hung
 * after `hungMs`.
 */
export async function startServing(
  { url, privateUrl, s3 }: Stores,
  args: readonly string[] = ['serve', 'history'],
  { hungMs }: Pick<StartOptions, 'hungMs'> = {},
): Promise<ServingProcess> {
  const process = startHighwater(args, {
    ...(hungMs === undefined ? {} : { hungMs }),
    env: {
      STORE_URL: url,
      PRIVATE_STORE_URL: privateUrl,
      HISTORY_PORT: '0',
      BUILD_EFFORT: 'quick', // of `run`: what is small is not what it shows
      ...(s3 === undefined ? {} : s3Env(s3)),
    },
  })
  return { ...process, url: addressIn(await process.prints(ADDRESS)) }
}

/** The address of a service of these stores that is stopped at the end of the running test. */
export async function serveForTest(stores: Stores): Promise<string> {
  const service = await startServing(stores)
  atEnd(async () => {
    service.kill('SIGTERM')
    await service.ended
  })
  return service.url
}

export const addressIn = ([, url]: RegExpExecArray): string => z.url().parse(url)

const versionAnswer = z.object({ data: z.object({ dataset_version: z.string().nullable() }) })

/** The version that the service answers from now. */
export async function servedVersion({ url }: { readonly url: string }): Promise<string | null> {
  const response = await fetch(`${url}/version`)
  return versionAnswer.parse(await response.json()).data.dataset_version
}
