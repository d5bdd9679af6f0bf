// Secrets that are not set are generated at the first run, into files that only their owner can read.
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type KeyRing, parseKeyRing } from '#signals/outbox/secret-box.ts'
import { codeOf, ifThere } from '#storage/error-code.ts'
import { newPrivateKeyPem } from '#storage/signature.ts'
import { type Runtime, UsageError } from '../runtime.ts'
import type { Environment } from './environment.ts'

/** `secretKey` is the text of a key ring. */
export type Secrets = Awaited<ReturnType<typeof readSecrets>>

/** The files in the data folder of the secrets that are not set, by their variables. */
export const SECRET_FILES = {
  ...{ OPERATOR_TOKEN: 'operator-token', SECRET_KEY: 'secret-key' },
  ...{ SEAL_SECRET: 'seal-secret', SEAL_KEY_FILE: 'seal-key.pem' },
}

type Secret = keyof typeof SECRET_FILES
type Given = Pick<Environment, 'DATA_FOLDER' | Secret>

/** Only its owner may read a secret. */
export const PRIVATE_MODE = 0o600

export const isReadByOthers = async (path: string): Promise<boolean> =>
  ((await stat(path)).mode & 0o077) !== 0

/** 256 bits, as long as the key of the cipher. */
const SECRET_BYTES = 32

/** Throws a UsageError if a secret is not set and other machines reach the service: there the operator must choose and keep each. */
export async function readSecrets(
  environment: Given & Pick<Environment, 'HOST'>,
  random: Runtime['drawBytes'],
) {
  const { HOST, DATA_FOLDER, OPERATOR_TOKEN, SECRET_KEY, SEAL_SECRET, SEAL_KEY_FILE } = environment
  const missing = (Object.keys(SECRET_FILES) as Secret[]).filter(name => environment[name] === null)
  if (!isLoopback(HOST) && missing.length > 0)
    throw new UsageError(
      `HOST ${HOST} is reachable from other machines, which needs secrets that you choose: set ` +
        `${missing.join(' and ')}, such as \`OPERATOR_TOKEN=$(openssl rand -hex 32)\` and ` +
        '`SECRET_KEY=k1:$(openssl rand -base64 32)`; SEAL_SECRET is made as the first, and SEAL_KEY_FILE by `highwater keys new FILE`',
    )
  const keep = (name: Secret, make: () => string) => keepSecret(DATA_FOLDER, SECRET_FILES[name], random, make)
  if (SEAL_KEY_FILE === null) await keep('SEAL_KEY_FILE', newPrivateKeyPem)
  const base64 = (encoding: 'base64' | 'base64url') => Buffer.from(random(SECRET_BYTES)).toString(encoding)
  return {
    operatorToken: OPERATOR_TOKEN ?? (await keep('OPERATOR_TOKEN', () => base64('base64url'))),
    secretKey: SECRET_KEY ?? (await keep('SECRET_KEY', () => `k1:${base64('base64')}`)),
    sealSecret: SEAL_SECRET ?? (await keep('SEAL_SECRET', () => base64('base64url'))),
    sealKey: await readSealKey(environment),
  }
}

/** The private key of SEAL_KEY_FILE, PEM, or the generated one. Throws a UsageError if there is none. */
export async function readSealKey({ DATA_FOLDER, SEAL_KEY_FILE }: Given): Promise<string> {
  const path = SEAL_KEY_FILE ?? join(DATA_FOLDER, SECRET_FILES.SEAL_KEY_FILE)
  const pem = await ifThere(readSecretFile(path), null)
  if (pem !== null) return pem
  throw new UsageError(
    `there is no ${path}: set SEAL_KEY_FILE to the key of the seals, or make one with \`highwater keys new ${path}\``,
  )
}

export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host)

/** The content of the file, created if it does not exist. Two processes that create it both get the first. */
export async function keepSecret(
  folder: string,
  name: string,
  random: Runtime['drawBytes'],
  make: () => string,
): Promise<string> {
  const path = join(folder, name)
  await mkdir(folder, { recursive: true })
  if ((await ifThere(stat(path), null)) === null) {
    const draft = `${path}.${Buffer.from(random(8)).toString('hex')}`
    try {
      await writeFile(draft, `${make()}\n`, { flag: 'wx', mode: PRIVATE_MODE, flush: true })
      await link(draft, path)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    } finally {
      await rm(draft, { force: true })
    }
  }
  return readSecretFile(path)
}

/** The key ring of SECRET_KEY, or the generated one. Throws a UsageError if there is none. */
export async function readKeyRing({ SECRET_KEY, DATA_FOLDER }: Given): Promise<KeyRing> {
  const path = join(DATA_FOLDER, SECRET_FILES.SECRET_KEY)
  const text = SECRET_KEY ?? (await ifThere(readSecretFile(path), null))
  if (text !== null) return parseKeyRing(text)
  throw new UsageError(
    `SECRET_KEY is not set, and there is no ${path}: set SECRET_KEY to that of the service`,
  )
}

/** A generated secret. Throws if other users can read it, or if it is empty. */
export async function readSecretFile(path: string): Promise<string> {
  if (await isReadByOthers(path))
    throw new Error(
      `${path} can be read by other users: run \`chmod 600 ${path}\`, and replace the secret if they may have read it`,
    )
  const text = (await readFile(path, 'utf8')).trim()
  if (text === '') throw new Error(`${path} is empty: remove it, and a new one is generated`)
  return text
}
