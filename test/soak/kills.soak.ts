// Kills of everything that publishes, moves the pointer or removes versions, on a disk and in a bucket beside each other.
import { createRandom } from '#pipeline/sample/random.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { whileReading } from '../support/history/reading-tier.ts'
import { fileGround, type Ground, newKeyFile, s3Ground } from '../support/kills/grounds.ts'
import type { Kill } from '../support/kills/kill-at.ts'
import {
  assertDone,
  buildRound,
  killsOf,
  type Model,
  modelOf,
  notServed,
  playOnModel,
  strikeOf,
  violationsIn,
} from '../support/kills/kill-rounds.ts'
import type { Round } from '../support/kills/play-round.ts'
import { buildArgs, contentOf, NEXT_VERSION, storeArgs } from '../support/stores/stores.ts'
import { soak } from './soak.ts'

/** A round in so many is read by a tier meanwhile, and one in so many begins with a race. */
const WATCHED_EVERY = 3
const RACED_EVERY = 2

type Lane = {
  readonly name: string
  readonly ground: Ground
  readonly model: Model
  readonly moves: readonly number[]
}

soak('kills', async () => {
  const keyFile = await newKeyFile()
  const lanes = [
    await openLane('folder', await fileGround(keyFile)),
    await openLane('bucket', await s3Ground(keyFile)),
  ]
  return async seed => {
    const killed = await Promise.all(lanes.map(lane => playOne(lane, seed)))
    return killed.reduce((sum, count) => sum + count, 0)
  }
})

async function openLane(name: string, ground: Ground): Promise<Lane> {
  const model = await modelOf(ground)
  return { name, ground, model, moves: await countMoves(ground, model.stores) }
}

async function playOne({ name, ground, model, moves }: Lane, seed: number): Promise<number> {
  const stores = await ground.open()
  const kills = killsOf(seed, model)
  const isRaced = seed % RACED_EVERY === 1
  const round = isRaced ? raceRound(ground, stores, kills[0]!) : buildRound(ground, stores, kills, model)
  let killed = 0
  const publish = async (): Promise<void> => {
    killed += await playOnModel(round, model)
  }
  try {
    if (seed % WATCHED_EVERY === 0) await whileReading(stores, model.content, publish)
    else await publish()
    const { uniform } = createRandom(seed)
    for (const [i, move] of MOVES.entries()) {
      const kill: Kill = { at: { nth: Math.floor(uniform() * moves[i]!) }, isDone: uniform() < 0.5 }
      killed += await playOnModel(moveRound(ground, stores, move, kill), model)
    }
    await assertRemoved(stores)
    return killed
  } catch (cause) {
    throw new Error(`${name}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

/** A command that is killed, and what is true when it has done its work. */
type Move = {
  readonly args: readonly string[]
  readonly served: string
  /** What it says where the killed one had done all of its work already. */
  readonly wasDone?: RegExp
}

/** In this order on a pair of stores that serve the second of two versions. */
const MOVES: readonly Move[] = [
  { args: ['refresh'], served: NEXT_VERSION },
  { args: ['rollback', TINY_VERSION], served: TINY_VERSION, wasDone: /is served already/ },
  { args: ['rollback', NEXT_VERSION], served: NEXT_VERSION, wasDone: /is served already/ },
  { args: ['prune', '--yes', '--keep-days', '0'], served: NEXT_VERSION },
]

const argsOf = (stores: Stores, { args }: Move): string[] => [...args, ...storeArgs(stores)]

/** How many operations each of the moves has. */
async function countMoves(ground: Ground, stores: Stores): Promise<readonly number[]> {
  const counts: number[] = []
  for (const move of MOVES) {
    const { exit, operations } = await ground.count(argsOf(stores, move))
    assertDone(exit, move.wasDone)
    counts.push(operations)
  }
  return counts
}

/** A move that is killed once, and the same command that finishes. */
function moveRound(ground: Ground, stores: Stores, move: Move, kill: Kill): Round {
  const args = argsOf(stores, move)
  return {
    strikes: [[strikeOf(ground, args, kill, move.wasDone)]],
    finish: async () => assertDone(await ground.start(args).ended, move.wasDone),
    violations: async isFinished => [
      ...(await violationsIn(stores, { mayBeGone: true })),
      ...(isFinished ? await notServed(stores, move.served) : []),
    ],
  }
}

/** Of a version that was removed nothing is left, in the private store neither. */
async function assertRemoved(stores: Stores): Promise<void> {
  const folder = TINY_VERSION.replace(/[-:]/g, '')
  const left = Object.keys(await contentOf(stores)).filter(key => key.includes(folder))
  if (left.length > 0) throw new Error(`prune has finished and left ${left.join(', ')}`)
}

const RACERS = 3

/** What a publisher says that another was faster than. */
const BEATEN = /another build of \S+ is running|was faster|changed hands/

/** Builds that start together, one of which is killed; then one that finishes. */
function raceRound(ground: Ground, stores: Stores, kill: Kill): Round {
  const args = buildArgs(stores)
  const { name, hit } = strikeOf(ground, args, kill, BEATEN)
  const race = async (): Promise<boolean> => {
    const others = Array.from({ length: RACERS - 1 }, () => ground.start(args).ended)
    const [isKilled, ...exits] = await Promise.all([hit(), ...others])
    for (const exit of exits) assertDone(exit, BEATEN)
    return isKilled
  }
  return {
    strikes: [[{ name: `of ${RACERS} racers one ${name}`, hit: race }]],
    finish: async () => assertDone(await ground.start(args).ended),
    violations: () => violationsIn(stores),
  }
}
