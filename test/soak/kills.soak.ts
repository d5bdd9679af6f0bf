// Kills of everything that publishes, moves the pointer or removes versions, on a disk and in a bucket beside each other.
import { createRandom, type Random } from '#pipeline/sample/random.ts'
import { type Stores, TINY_VERSION } from '../support/books/publish-book.ts'
import { whileReading } from '../support/history/reading-tier.ts'
import { fileGround, type Ground, newKeyFile, s3Ground } from '../support/kills/grounds.ts'
import type { Kill } from '../support/kills/kill-at.ts'
import {
  assertSound,
  describeKill,
  type Model,
  modelOf,
  playRound,
  roundOf,
} from '../support/kills/kill-rounds.ts'
import type { Exit } from '../support/processes.ts'
import { buildArgs, contentOf, NEXT_VERSION, pointerOf } from '../support/stores/stores.ts'
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
  const round = roundOf(seed, model)
  let killed = 0
  const publish = async (): Promise<void> => {
    if (seed % RACED_EVERY === 1) killed += await playRace(ground, stores, round[0]!)
    else killed += (await playRound(ground, stores, round, model)).killed
  }
  try {
    if (seed % WATCHED_EVERY === 0) await whileReading(stores, model.content, publish)
    else await publish()
    return killed + (await playMoves(ground, stores, moves, createRandom(seed)))
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

const argsOf = ({ url, privateUrl }: Stores, { args }: Move): string[] => [
  ...args,
  ...['--store', url, '--private-store', privateUrl],
]

/** How many operations each of the moves has. */
async function countMoves(ground: Ground, stores: Stores): Promise<readonly number[]> {
  const counts: number[] = []
  for (const move of MOVES) {
    const { exit, operations } = await ground.count(argsOf(stores, move))
    assertDone(exit, move, 'nothing happened to it')
    counts.push(operations)
  }
  return counts
}

/** Kills each of the moves once, and lets the same command finish. Returns how many were really killed. */
async function playMoves(
  ground: Ground,
  stores: Stores,
  counts: readonly number[],
  { uniform }: Random,
): Promise<number> {
  let killed = 0
  for (const [i, move] of MOVES.entries()) {
    const kill: Kill = { at: { nth: Math.floor(uniform() * counts[i]!) }, isDone: uniform() < 0.5 }
    const when = `${move.args.join(' ')} ${describeKill(kill)}`
    const exit = await ground.runUntil(argsOf(stores, move), kill)
    if (exit.signal === 'SIGKILL') killed++
    else assertDone(exit, move, when)
    await assertSound(stores, when, true)
    assertDone(await ground.start(argsOf(stores, move)).ended, move, `${when}, then run again`)
    await assertSound(stores, when, true)
    if ((await pointerOf(stores)) !== move.served) throw new Error(`${when}: finished, and not served`)
  }
  await assertRemoved(stores)
  return killed
}

function assertDone({ code, signal, stderr }: Exit, { wasDone }: Move, when: string): void {
  if (code === 0 || (code === 1 && wasDone?.test(stderr))) return
  throw new Error(`${when}: it ended with ${code ?? signal}: ${stderr}`)
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

/** Builds that start together, one of which is killed; then one that finishes. Returns how many were really killed. */
async function playRace(ground: Ground, stores: Stores, kill: Kill): Promise<number> {
  const args = buildArgs(stores)
  const others = Array.from({ length: RACERS - 1 }, () => ground.start(args).ended)
  const [killed, ...exits] = await Promise.all([ground.runUntil(args, kill), ...others])
  const when = `of ${RACERS} builds one ${describeKill(kill)}`
  for (const { code, signal, stderr } of killed.signal === 'SIGKILL' ? exits : [killed, ...exits]) {
    if (code !== 0 && !(code === 1 && BEATEN.test(stderr))) {
      throw new Error(`${when}: another ended with ${code ?? signal}: ${stderr}`)
    }
  }
  await assertSound(stores, when)
  const { code, stderr } = await ground.start(args).ended
  if (code !== 0) throw new Error(`${when}: the same command did not finish: ${stderr}`)
  await assertSound(stores, `${when}, then finished`)
  return killed.signal === 'SIGKILL' ? 1 : 0
}
