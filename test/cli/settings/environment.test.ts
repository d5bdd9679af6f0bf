import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { UsageError } from '#cli/runtime.ts'
import { parseEnvironment } from '#cli/settings/environment.ts'
import { readSecrets } from '#cli/settings/generated-secrets.ts'
import { parseKeyRing } from '#signals/outbox/secret-box.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { seededBytes } from '../../support/signals/signals.ts'

const DEFAULTS = parseEnvironment({}, '/srv/data')

test('an empty environment keeps all in the data folder, listens to this machine alone, and allows nothing unsafe', () => {
  expect(DEFAULTS).toMatchObject({
    STORE_URL: 'file:///srv/data/store',
    PRIVATE_STORE_URL: 'file:///srv/data/store.private',
    s3: { endpoint: null, region: 'us-east-1', credentials: null },
    ...{ HOST: '127.0.0.1', ADMIN_HOST: '127.0.0.1', ALLOWED_ORIGINS: [], TRUSTED_PROXIES: [] },
    ...{ ALLOW_UNSAFE_REDIS: false, ALLOW_PRIVATE_WEBHOOKS: false },
  })
})

test('an empty variable counts as one that is not set', () => {
  const names = ['STORE_URL', 'PRIVATE_STORE_URL', 'HISTORY_PORT', 'SUNSET_AT', 'PUBLIC_BASE_URL']
  expect(parseEnvironment(Object.fromEntries(names.map(name => [name, ''])), '/srv/data')).toEqual(DEFAULTS)
})

test('every variable of the environment is taken as it is written', () => {
  const env = {
    STORE_URL: 'file:///var/lib/highwater/',
    HOST: '0.0.0.0',
    HISTORY_PORT: '0',
    PUBLIC_BASE_URL: 'https://data.example.org/',
    HISTORY_BASE_URL: 'https://history.example.org',
    SIGNALS_BASE_URL: 'https://signals.example.org/',
    ALLOWED_ORIGINS: ' https://a.example.org , http://localhost:3000,',
    CDN_PURGE_COMMAND: 'purge $PURGE_TAGS',
    ANCHOR_COMMAND: 'stamp $ENTRY_SHA256',
    DEPRECATED_AT: '2027-01-31T00:00:00Z',
    SUNSET_AT: '2027-06-30T00:00:00Z',
    REDIS_URL: 'rediss://user:pass@redis.example.org:6380',
    REDIS_FOLDER: '/var/lib/redis',
    FLEET_URL: 'redis://10.0.0.5:6379',
    ALLOW_UNSAFE_REDIS: 'yes',
  }
  expect(parseEnvironment(env, '/srv/data')).toEqual({
    ...DEFAULTS,
    ...env,
    PRIVATE_STORE_URL: 'file:///var/lib/highwater.private',
    HISTORY_PORT: 0,
    PUBLIC_BASE_URL: 'https://data.example.org',
    SIGNALS_BASE_URL: 'https://signals.example.org',
    ALLOWED_ORIGINS: ['https://a.example.org', 'http://localhost:3000'],
    ALLOW_UNSAFE_REDIS: true,
    DEPRECATED_AT: Date.UTC(2027, 0, 31),
    SUNSET_AT: Date.UTC(2027, 5, 30),
  })
})

test('an environment with many errors reports all of them at once: the name, what was expected, the value', () => {
  const env = {
    STORE_URL: 'ftp://elsewhere',
    PRIVATE_STORE_URL: 'not a url',
    HISTORY_PORT: '70000',
    PUBLIC_BASE_URL: 'data.example.org',
    ALLOWED_ORIGINS: 'https://a.example.org/path,nonsense',
    DEPRECATED_AT: 'tomorrow',
    SUNSET_AT: '2027-02-30T00:00:00Z',
  }
  expect(() => parseEnvironment(env, '/srv/data')).toThrow(
    new UsageError(
      [
        'invalid environment:',
        '  STORE_URL: expected a store such as file:///var/lib/highwater or s3://bucket/highwater, got "ftp://elsewhere"',
        '  PRIVATE_STORE_URL: expected a store such as file:///var/lib/highwater.private, never served, got "not a url"',
        '  HISTORY_PORT: expected a port from 0 to 65535, of the history service, got "70000"',
        '  PUBLIC_BASE_URL: expected the address that users see, such as https://data.example.org, got "data.example.org"',
        '  ALLOWED_ORIGINS: expected origins such as https://www.example.org, separated by commas, that may read answers in a browser, got ' +
          '"https://a.example.org/path,nonsense"',
        '  DEPRECATED_AT: expected the header Deprecation, an instant such as 2027-01-31T00:00:00Z, got "tomorrow"',
        '  SUNSET_AT: expected the header Sunset, an instant such as 2027-06-30T00:00:00Z, got "2027-02-30T00:00:00Z"',
      ].join('\n'),
    ),
  )
})

test('the environment defines how buckets are reached', () => {
  const env = {
    STORE_URL: 's3://bucket/highwater',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9000',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'hidden',
  }
  const credentials = { accessKeyId: 'key', secretAccessKey: 'hidden' }
  expect(parseEnvironment(env, '/srv/data')).toMatchObject({
    STORE_URL: 's3://bucket/highwater',
    PRIVATE_STORE_URL: 's3://bucket/highwater.private',
    s3: { endpoint: 'http://127.0.0.1:9000', region: 'eu-central-1', credentials },
  })
  const more = { ...env, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9001', AWS_SESSION_TOKEN: 'token' }
  expect(parseEnvironment(more, '/srv/data').s3).toEqual({
    endpoint: 'http://127.0.0.1:9001',
    region: 'eu-central-1',
    credentials: { ...credentials, sessionToken: 'token' },
  })
})

test.each(casesOf<[Record<string, string>, string]>`
${{ AWS_ACCESS_KEY_ID: 'HIDDEN' }} -> AWS_SECRET_ACCESS_KEY: expected the secret of AWS_ACCESS_KEY_ID
${{ AWS_SECRET_ACCESS_KEY: 'HIDDEN' }} -> AWS_ACCESS_KEY_ID: expected an access key, set together
${{ AWS_ENDPOINT_URL_S3: 'ftp://user:HIDDEN@host' }} -> AWS_ENDPOINT_URL_S3: expected the address of an S3-compatible service, got something else
${{ REDIS_URL: 'http://user:HIDDEN@redis' }} -> REDIS_URL: expected the Redis of signals, such as redis://127.0.0.1:6379; built in if not set, got something else
${{ REDIS_URL: 'redis://127.0.0.1', REDIS_FOLDER: 'redis' }} -> REDIS_FOLDER: expected the absolute data folder of the Redis of REDIS_URL, if it is on this machine: alerts watch its disk, got "redis"
${{ REDIS_FOLDER: '/var/lib/redis' }} -> REDIS_URL: expected the Redis of signals
${{ OPERATOR_TOKEN: 'HIDDEN' }} -> OPERATOR_TOKEN: expected the token of the operator, 32 characters or more
${{ SECRET_KEY: 'k1:HIDDEN' }} -> SECRET_KEY: expected a key ring
${{ SMTP_URL: 'http://user:HIDDEN@mail', MAIL_FROM: 'a@example.org' }} -> SMTP_URL: expected the mail server of notices
${{ SMTP_URL: 'smtps://user:HIDDEN@mail' }} -> MAIL_FROM: expected the sender of these mails
${{ MAIL_FROM: 'a@example.org' }} -> SMTP_URL: expected the mail server of notices
${{ ALERT_URL: 'ftp://HIDDEN' }} -> ALERT_URL: expected an address`)(
  'the environment %j is refused, and nothing that may be a secret is printed',
  (env, message) => {
    const parse = () => parseEnvironment(env, '/srv/data')
    expect(parse).toThrow(UsageError)
    expect(parse).toThrow(message)
    expect(parse).not.toThrow('HIDDEN')
  },
)

const random = seededBytes('secrets')

test('secrets that are not set are generated once, and only their owner can read them', async () => {
  const folder = join(await temporaryFolder(), 'data')
  const environment = parseEnvironment({}, folder)
  const read = () => readSecrets(environment, random)
  const [one, two] = await Promise.all([read(), read()])
  expect(two).toEqual(one)
  expect(await readSecrets(environment, random)).toEqual(one)
  expect(one.operatorToken.length).toBeGreaterThanOrEqual(32)
  expect(parseKeyRing(one.secretKey).size).toBe(1)
  for (const name of ['operator-token', 'secret-key', 'seal-secret', 'seal-key.pem'])
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
})

test('a file of generated secrets that others can read is refused', async () => {
  const folder = await temporaryFolder()
  const environment = parseEnvironment({}, folder)
  await readSecrets(environment, random)
  await chmod(join(folder, 'secret-key'), 0o640)
  await expect(readSecrets(environment, random)).rejects.toThrow('chmod 600')
})

test.each(['0.0.0.0', '::', '10.1.2.3', 'data.example.org'])(
  'a service on the host %s refuses generated secrets, and takes chosen ones',
  async HOST => {
    const folder = await temporaryFolder()
    const SEAL_KEY_FILE = join(folder, 'own.pem')
    await writeFile(SEAL_KEY_FILE, 'a key', { mode: 0o600 })
    await expect(readSecrets(parseEnvironment({ HOST }, folder), random)).rejects.toThrow(UsageError)
    const chosen = {
      OPERATOR_TOKEN: 't'.repeat(40),
      SECRET_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      ...{ SEAL_SECRET: 's'.repeat(32), SEAL_KEY_FILE },
    }
    const environment = parseEnvironment({ HOST, ...chosen }, folder)
    expect(await readSecrets(environment, random)).toEqual({
      operatorToken: chosen.OPERATOR_TOKEN,
      secretKey: chosen.SECRET_KEY,
      ...{ sealSecret: chosen.SEAL_SECRET, sealKey: 'a key' },
    })
  },
)
