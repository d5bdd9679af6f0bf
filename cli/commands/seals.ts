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
import { define, flag, group, required } from '../options/command.ts'
import { openStores, readSettings, STORE_OPTIONS } from '../options/store-option.ts'
import { EXIT, ExitError } from '../runtime.ts'
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
    const none = `${url} has no seals: ${isOff ? SEALS_OFF : '`highwater serve signals` makes one every ten minutes'}`
    terminal.result(options.json, status, newest === null ? [none] : statusLines(status))
    if (refused !== null && !isOff) throw new ExitError(EXIT.failed)
  },
)

type Status = Record<'newest' | 'anchored_to' | 'age_seconds', number | null> &
  Record<'to' | 'origin' | 'refused', string | null>

/** Two are due in this time. */
const IDLE_SECONDS = 20 * 60

const statusLines = ({ newest, origin, to, age_seconds, anchored_to, refused }: Status): string[] => [
  `seal ${newest} of ${origin}, up to ${to}`,
  anchored_to ? `the newest with a time stamp is ${anchored_to}` : 'no seal has a time stamp',
  refused ?? 'the private store and Redis agree with it: the next one can be made',
  ...(refused === null && Number(age_seconds) > IDLE_SECONDS ? ['no service seals: is one running?'] : []),
]

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
    const { n, origin, lost } = begun
    const spans = lost.map(({ lost_from, lost_to }) => `${lost_from} to ${lost_to}`).join(', ')
    terminal.result(options.json, begun, [
      `seal ${n} will begin the origin ${origin}: clients that know the one before report it: inform them before`,
      lost.length === 0
        ? 'every seal before it can still be opened'
        : `seals ${spans} can never be opened, which their openings say with your reason`,
      'start the signals service: it makes the seal within ten minutes',
    ])
  },
)

export const defineSeals = group(STATUS_EXAMPLES, {
  status: ['the newest seal, and what keeps the sealer from making the next one', defineStatus],
  'begin-anew': ['begin a new chain of seals, and say why in public', defineBeginAnew],
})
