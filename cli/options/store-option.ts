import { type Command, InvalidArgumentError } from 'commander'
import { messageOf } from '#storage/error-code.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { assertStoreUrl, openStore, privateTwin } from '#storage/open-store.ts'
import type { Runtime } from '../runtime.ts'
import { readEnvironment } from '../settings/environment.ts'

export type StoreOptions = { readonly store?: string; readonly privateStore?: string }

export type StoreUrls = Readonly<ReturnType<typeof storeUrls>>

/** `--store` and `--private-store`, as every command that works on a store has them. */
export const addStoreOptions = (command: Command): Command =>
  command
    .option(
      '--store <url>',
      'the public store: file:///absolute/folder or s3://bucket/prefix (default: STORE_URL)',
      toStoreUrl,
    )
    .option(
      '--private-store <url>',
      'the private store, for snapshots (default: PRIVATE_STORE_URL, or beside the store)',
      toStoreUrl,
    )

/** A wrong address is wrong usage, as it is in STORE_URL. */
function toStoreUrl(url: string): string {
  try {
    assertStoreUrl(url)
    return url
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error))
  }
}

/** The stores that a command works on. A store that is named on the command line brings its own sibling. */
export function storeUrls(options: StoreOptions, runtime: Runtime) {
  const environment = readEnvironment(runtime)
  const storeUrl = options.store ?? environment.storeUrl
  const isPrivateNamed = options.store === undefined || Boolean(runtime.env.PRIVATE_STORE_URL)
  const privateDefault = isPrivateNamed ? environment.privateStoreUrl : privateTwin(storeUrl)
  return { storeUrl, privateStoreUrl: options.privateStore ?? privateDefault, s3: environment.s3 }
}

export async function openBothStores(options: StoreOptions, runtime: Runtime) {
  const { storeUrl, privateStoreUrl, s3 } = storeUrls(options, runtime)
  return { store: await openStore(storeUrl, s3), privateStore: await openStore(privateStoreUrl, s3) }
}

/** Whether the private store was named explicitly, instead of the default beside the public store. */
export const isPrivateStoreNamed = (options: StoreOptions, { env }: Runtime): boolean =>
  options.privateStore !== undefined || (options.store === undefined && Boolean(env.PRIVATE_STORE_URL))

export function openPublicStore(options: StoreOptions, runtime: Runtime): Promise<ObjectStore> {
  const { storeUrl, s3 } = storeUrls(options, runtime)
  return openStore(storeUrl, s3)
}
