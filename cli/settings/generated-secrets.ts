// Secrets that are not set are generated at the first run, into files that only their owner can read.
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type KeyRing, parseKeyRing } from '#signals/delivery/secret-box.ts'
import { codeOf, ifThere } from '#storage/error-code.ts'
import type { Runtime } from '../runtime.ts'
import { type Environment, UsageError } from './environment.ts'

/** `secretKey` is the text of a key ring. */
export type Secrets = Awaited<ReturnType<typeof readSecrets>>

export const OPERATOR_TOKEN_FILE = 'operator-token'
export const SECRET_KEY_FILE = 'secret-key'

/** Only its owner may read a secret. */
const PRIVATE_MODE = 0o600
const OTHERS = 0o077

/** 256 bits, as long as the key of the cipher. */
const SECRET_BYTES = 32

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/

/**
 * The secrets of the environment, or generated ones in the data folder. Throws a UsageError if a secret is missing and
 * the service listens to other machines: there the operator must choose and keep every secret.
 */
export async function readSecrets(
  { host, signals }: Pick<Environment, 'host' | 'signals'>,
  dataFolder: string,
  random: Runtime['drawBytes'],
) {
  const { operatorToken, secretKey } = signals
  assertChosen(host, { OPERATOR_TOKEN: operatorToken, SECRET_KEY: secretKey })
  const base64 = (encoding: 'base64' | 'base64url') => Buffer.from(random(SECRET_BYTES)).toString(encoding)
  return {
    operatorToken:
      operatorToken ?? (await keepSecret(dataFolder, OPERATOR_TOKEN_FILE, random, () => base64('base64url'))),
    secretKey:
      secretKey ?? (await keepSecret(dataFolder, SECRET_KEY_FILE, random, () => `k1:${base64('base64')}`)),
  }
}

/** Whether an address is that of this machine alone. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

function assertChosen(host: string, secrets: Readonly<Record<string, string | null>>): void {
  if (isLoopback(host)) return
  const missing = Object.entries(secrets).flatMap(([name, value]) => (value === null ? [name] : []))
  if (missing.length === 0) return
  throw new UsageError(
    `HOST ${host} is reachable from other machines, which needs secrets that you choose: set ${missing.join(' and ')}, ` +
      'such as `OPERATOR_TOKEN=$(openssl rand -hex 32)` and `SECRET_KEY=k1:$(openssl rand -base64 32)`',
  )
}

/** The content of the file, created if it does not exist. Two processes that create it both get the first. */
export async function keepSecret(
  folder: string,
  name: string,
  random: Runtime['drawBytes'],
  make: () => string,
): Promise<string> {
  const path = join(folder, name)
  await mkdir(folder, { recursive: true })
  if ((await ifThere(stat(path), null)) === null)
    await createOnce(path, Buffer.from(random(8)).toString('hex'), make())
  return readSecretFile(path)
}

async function createOnce(path: string, suffix: string, text: string): Promise<void> {
  const draft = `${path}.${suffix}`
  const file = await open(draft, 'wx', PRIVATE_MODE)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await file.close()
    await unlink(draft)
  }
}

/** The key ring of SECRET_KEY, or the generated one. Throws a UsageError if there is none. */
export async function readKeyRing({
  signals,
  dataFolder,
}: Pick<Environment, 'signals' | 'dataFolder'>): Promise<KeyRing> {
  const path = join(dataFolder, SECRET_KEY_FILE)
  if (signals.secretKey === null && (await ifThere(stat(path), null)) === null)
    throw new UsageError(
      `SECRET_KEY is not set, and there is no ${path}: set SECRET_KEY to that of the service`,
    )
  return parseKeyRing(signals.secretKey ?? (await readSecretFile(path)))
}

/** A generated secret. Throws if other users can read it, or if it is empty. */
export async function readSecretFile(path: string): Promise<string> {
  const { mode } = await stat(path)
  if ((mode & OTHERS) !== 0)
    throw new Error(
      `${path} can be read by other users: run \`chmod 600 ${path}\`, and replace the secret if they may have read it`,
    )
  const text = (await readFile(path, 'utf8')).trim()
  if (text === '') throw new Error(`${path} is empty: remove it, and a new one is generated`)
  return text
}
