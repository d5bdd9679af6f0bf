import { invalidParameter } from '#core/contract/errors.ts'
import { didYouMean } from '#core/contract/near-miss.ts'
import { request, text, word } from '#core/contract/payloads/field.ts'
import { MODES } from '#core/contract/signal.ts'
import { halt, haltedAliases, type Ordered, orderMode, resume } from '#signals/live/live-record.ts'
import type { Operator } from '#signals/operators/tokens.ts'
import { EVERY_ALIAS } from '#signals/redis/keys.ts'
import { readLive } from '#signals/views/overview.ts'
import type { Warning } from '../../service/page/page-route.ts'
import type { OperatorParts } from '../exchange.ts'
import { operatorRoute } from '../operator-route.ts'
import { liveStrategies } from '../views.ts'

const alias = text('the id of a strategy')

/** Characters of a reason. */
const MOST_REASON = 200

/** It is published with the order when the embargo is over. */
const why = text('why, for the public record').max(MOST_REASON).default('')

const haltRequest = request('HaltRequest', {
  alias: alias.default(EVERY_ALIAS).describe('the id of a strategy, or * for all'),
  why,
})

const HALTING = {
  method: 'POST',
  scope: 'everything',
  subject: { kind: 'strategy', field: 'alias', otherwise: EVERY_ALIAS },
  body: haltRequest,
  isBodyOptional: true,
  data: liveStrategies,
} as const

export const LIVE_ROUTES = [
  operatorRoute({
    id: 'live',
    path: '/ops/live',
    title: 'State of the live strategies',
    about:
      'Every strategy that has run live, fired or is halted, with its last bar and its mode, and what is halted.',
    data: liveStrategies,
    command: { usage: 'live status' },
    handler: async (_, parts) => ({ data: await describeLive(parts) }),
  }),
  operatorRoute({
    ...HALTING,
    id: 'halt',
    path: '/ops/live/halt',
    title: 'Halt a strategy, or all: no entry is fired, a flat still is',
    about:
      'Without a body it is all of them. From the answer on no entry is written, whatever it comes from.',
    example: { path: '/ops/live/halt', body: { alias: 'alder' } },
    command: { usage: 'live halt [alias]' },
    form: {
      offers: [
        { at: 'live', button: 'Halt all…', tone: 'stop', when: { isHalted: false } },
        { at: 'strategy', button: 'Halt', tone: 'stop', when: { isHalted: false } },
        { at: 'any strategy', button: 'Halt', inputs: ['alias', 'why'] },
      ],
      warn: ({ alias, why }) => (alias !== EVERY_ALIAS && why !== '' ? null : warningOf(alias)),
      asks: 'why',
      done: 'Halted: no long or short is sent, a flat still is.',
    },
    handler: async ({ alias, why }, parts, who) => {
      await assertAlias(alias, parts)
      await halt(parts.redis, alias, orderOf(parts, who, why))
      return { data: await describeLive(parts) }
    },
  }),
  operatorRoute({
    ...HALTING,
    id: 'resume',
    path: '/ops/live/resume',
    title: 'End a halt',
    about:
      'Without a body it is the halt of all. A strategy that was halted by its name stays halted until ' +
      'that halt is ended.',
    example: { path: '/ops/live/resume', body: { alias: 'alder' } },
    command: { usage: 'live resume [alias]' },
    form: {
      offers: [
        { at: 'live', button: 'Resume all', when: { isHalted: true } },
        { at: 'strategy', button: 'Resume', tone: 'quiet', when: { isHalted: true } },
      ],
      done: 'Resumed.',
    },
    handler: async ({ alias, why }, parts, who) => {
      await resume(parts.redis, alias, orderOf(parts, who, why)) // also of one that is not served any more
      return { data: await describeLive(parts) }
    },
  }),
  operatorRoute({
    id: 'mode',
    method: 'POST',
    path: '/ops/live/mode',
    scope: 'everything',
    subject: { kind: 'strategy', field: 'alias' },
    title: 'Set the mode of a strategy: LIVE or DRY_RUN',
    about:
      'It holds from the next entry on: an open position is closed in the mode of its entry. A strategy ' +
      'is `LIVE` only if its catalogue says so too.',
    body: request('ModeRequest', { alias, mode: word(`one of ${MODES.join(', ')}`, MODES), why }),
    data: liveStrategies,
    refusals: ['conflict'],
    example: { path: '/ops/live/mode', body: { alias: 'alder', mode: 'DRY_RUN' } },
    command: { usage: 'live go-live <alias>', fields: ['why'] },
    handler: async ({ alias, mode, why }, parts, who) => {
      await assertAlias(alias, parts)
      await orderMode(parts.redis, alias, mode, orderOf(parts, who, why))
      return { data: await describeLive(parts) }
    },
  }),
]

const orderOf = ({ clock }: OperatorParts, { name }: Operator, why: string): Ordered => ({
  by: `operator:${name}`,
  atMs: clock.now(),
  why: why || null,
})

const warningOf = (alias: string): Warning => {
  const isAll = alias === EVERY_ALIAS
  return [
    isAll ? 'Halt every strategy?' : `Halt ${alias}?`,
    `From now on no client gets a long or a short of ${isAll ? 'any strategy' : alias}, whatever fires it. A flat is still sent. It ` +
      'lasts until you resume. The halt is sealed, and published with your name and the reason when the embargo is over.',
    isAll ? 'Halt all' : 'Halt',
  ]
}

const describeLive = async ({ redis, aliases, clock }: OperatorParts) =>
  liveStrategies.parse({
    halted: await haltedAliases(redis),
    strategies: await readLive(redis, aliases(), clock.now()),
  })

/** A halt of an unknown name would be believed. A strategy that runs or fired can be halted, whether it is served or not. */
async function assertAlias(alias: string, { redis, aliases, clock }: OperatorParts): Promise<void> {
  if (alias === EVERY_ALIAS || aliases().has(alias)) return
  const known = [...aliases(), ...(await readLive(redis, aliases(), clock.now())).map(live => live.alias)]
  if (known.includes(alias)) return
  const hint = didYouMean(alias.slice(0, 64), known)
  throw invalidParameter(
    'alias',
    alias.slice(0, 64),
    `expected the id of a strategy of the served dataset, or of one that has run live or fired${hint}`,
  )
}
