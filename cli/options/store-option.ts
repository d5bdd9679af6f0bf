// Options of the stores: where they are, and what an operator allows about the signatures in them.
import { openStore, privateTwin } from '#storage/open-store.ts'
import type { S3Patience } from '#storage/s3-access.ts'
import type { Runtime } from '../runtime.ts'
import { type Environment, readEnvironment, storeUrl } from '../settings/environment.ts'
import { flag, type OptionsOf, option } from './command.ts'

export const STORE_OPTIONS = {
  store: option(
    '<url>',
    'the public store: file:///absolute/folder or s3://bucket/prefix (default: STORE_URL)',
    storeUrl,
  ),
  privateStore: option(
    '<url>',
    'the private store, for snapshots (default: PRIVATE_STORE_URL, or beside the store)',
    storeUrl,
  ),
}

export type StoreOptions = Partial<OptionsOf<typeof STORE_OPTIONS>>

/** The settings with the stores of the command line. A store that is named there brings its own sibling. */
export function readSettings({ store, privateStore }: StoreOptions, runtime: Runtime): Environment {
  const settings = readEnvironment(runtime)
  const isSibling = store !== undefined && !runtime.env.PRIVATE_STORE_URL
  return {
    ...settings,
    STORE_URL: store ?? settings.STORE_URL,
    PRIVATE_STORE_URL: privateStore ?? (isSibling ? privateTwin(store) : settings.PRIVATE_STORE_URL),
    isPrivateNamed: privateStore !== undefined || (store === undefined && settings.isPrivateNamed),
  }
}

export async function openStores(settings: Environment, patience?: S3Patience) {
  const { STORE_URL, PRIVATE_STORE_URL, isPrivateNamed, s3 } = settings
  const store = await openStore(STORE_URL, s3, patience)
  return { store, privateStore: await openStore(PRIVATE_STORE_URL, s3, patience), isPrivateNamed }
}

export const SIGNING_OPTIONS = {
  allowUnsigned: flag('publish without a signature although the newest entry has one'),
  newKey: flag('publish the key of SIGNING_KEY_FILE in addition to the published keys'),
}

export type SigningConsent = Partial<OptionsOf<typeof SIGNING_OPTIONS>> & {
  /** Accepting a newest entry whose signature is wrong or missing, because the operator knows its origin. */
  readonly vouchForHead?: boolean | undefined
}
