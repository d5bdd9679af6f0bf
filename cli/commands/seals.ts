// How the sealing of signals stands, and a new beginning of a chain that cannot be continued.
import { toIsoInstant } from '#core/calendar.ts'
import { sealAnchorKey } from '#core/contract/seals.ts'
import { MAIN_OPERATOR } from '#signals/operators/tokens.ts'
import { SEALS_OFF } from '#signals/redis/keys.ts'
import { beginAnew } from '#signals/seals/begin-anew.ts'
import { assertMaySeal, refusalOf } from '#signals/seals/sealer.ts'
import { readNewestSeal } from '#storage/seals/chain.ts'
import { recordKey } from '#storage/seals/seal.ts'
import { createSigner } from '#storage/signature.ts'
import { type Define, define, flag, required } from '../options/command.ts'
import { openStores, readSettings, STORE_OPTIONS } from '../options/store-option.ts'
import { EXIT, ExitError, type Runtime } from '../runtime.ts'
import { readSealKey, readSecrets } from '../settings/generated-secrets.ts'
import { text } from '../settings/text.ts'
import { withRedis } from './ops/backup.ts'

const JSON_OPTION = { json: flag('print it as one JSON document') }

const STATUS_EXAMPLES = `
Examples:
  highwater seals status
  highwater seals status --json

The exit code is 1 if the sealer would refuse to make the next one.`

const BEGIN_EXAMPLES = `
Only if the sealer refuses, and what it asks for cannot be brought back: Redis or a store was lost or restored from a copy, or the
key is lost. Stop the signals service first. The reason is published, with the seals that can never be opened; the next seal has
another origin, which every reader sees at once.

Example:
  highwater seals begin-anew --reason 'the private store was lost with its disk'`

export const defineSeals: Define = (command, runtime) => {
  command.addHelpText('after', STATUS_EXAMPLES)
  const add = (name: string, about: string, how: Define) =>
    how(command.command(name).description(about), runtime)
  add('status', 'the newest seal, and what keeps the sealer from making the next one', defineStatus)
  add('begin-anew', 'begin a new chain of seals, and say why in public', defineBeginAnew)
}

const defineStatus = define(
  { ...STORE_OPTIONS, ...JSON_OPTION },
  STATUS_EXAMPLES,
  async (options, runtime) => {
    const environment = readSettings(options, runtime)
    const { terminal, now } = runtime
    const stores = await openStores(environment)
    const { url } = stores.store
    const newest = await readNewestSeal(key => stores.store.read(key))
    const isOff = environment.SEALS === 'off'
    if (newest === null && !options.json)
      return terminal.print(
        `${url} has no seals: ${isOff ? SEALS_OFF : '`highwater serve signals` makes one every ten minutes'}`,
      )
    const signer = newest === null || isOff ? null : createSigner(await readSealKey(environment))
    const refused = isOff
      ? SEALS_OFF
      : signer &&
        (await withRedis(environment, runtime, redis =>
          assertMaySeal({ ...stores, redis, signer, now, secret: '' }).then(() => null, refusalOf),
        ))
    const anchored = (await stores.store.list(sealAnchorKey(0).replace(/\d+$/, ''))).at(-1)?.split('/').at(-1)
    const status = {
      newest: newest?.seal.n ?? null,
      to: newest && toIsoInstant(newest.seal.toMs),
      age_seconds: newest && Math.round((now() - newest.seal.toMs) / 1_000),
      origin: newest?.seal.origin ?? null,
      has_record: newest && (await stores.privateStore.has(recordKey(newest.seal.n))),
      anchored_to: anchored === undefined ? null : Number(anchored),
      refused,
    }
    if (options.json) terminal.json(status)
    else printStatus(status, terminal)
    if (refused !== null && !isOff) throw new ExitError(EXIT.failed)
  },
)

type Status = Record<'newest' | 'anchored_to' | 'age_seconds', number | null> &
  Record<'to' | 'origin' | 'refused', string | null>

/** Two are due in this time. */
const IDLE_SECONDS = 20 * 60

function printStatus(status: Status, { print }: Runtime['terminal']): void {
  const { newest, origin, to, age_seconds, anchored_to, refused } = status
  print(`seal ${newest} of ${origin}, up to ${to}`)
  print(anchored_to ? `the newest with a time stamp is ${anchored_to}` : 'no seal has a time stamp')
  print(refused ?? 'the private store and Redis agree with it: the next one can be made')
  if (refused === null && Number(age_seconds) > IDLE_SECONDS) print('no service seals: is one running?')
}

const defineBeginAnew = define(
  {
    ...STORE_OPTIONS,
    reason: required('<text>', 'why, published in the opening of the next seal', text.min(1)),
    ...JSON_OPTION,
  },
  BEGIN_EXAMPLES,
  async (options, runtime) => {
    const environment = readSettings(options, runtime)
    const { sealKey, sealSecret: secret } = await readSecrets(environment, runtime.drawBytes)
    const signer = createSigner(sealKey)
    const stores = await openStores(environment)
    const { now, terminal } = runtime
    const begun = await withRedis(environment, runtime, redis =>
      beginAnew({ ...stores, redis, signer, secret, now }, options.reason, `operator:${MAIN_OPERATOR}`),
    )
    if (options.json) return terminal.json(begun)
    const { n, origin, lost } = begun
    terminal.print(
      `seal ${n} will begin the origin ${origin}: clients that know the one before report it: inform them before`,
    )
    terminal.print(
      lost.length === 0
        ? 'every seal before it can still be opened'
        : `seals ${lost.map(({ lost_from, lost_to }) => `${lost_from} to ${lost_to}`).join(', ')} can never be opened, which their openings say with your reason`,
    )
    terminal.print('start the signals service: it makes the seal within ten minutes')
  },
)
