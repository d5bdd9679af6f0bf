// Hundreds of kills of everything that publishes, moves the pointer or removes versions, on a disk and in a bucket:
// `make soak`, with KILLS, SEED and MINUTES. The first violation ends it with the seed to replay it.
import { test } from 'vitest'
import { createRandom } from '#pipeline/sample/random.ts'
import { whileReading } from '../support/history/reading-tier.ts'
import { fileGround, type Ground, newKeyFile, s3Ground } from '../support/kills/grounds.ts'
import { countMoves, playMoves, playRace } from '../support/kills/kill-moves.ts'
import { type Model, modelOf, playRound, type Round, toRounds } from '../support/kills/kill-rounds.ts'
import { numberFrom } from './number-from.ts'

const KILLS = numberFrom('KILLS', 300)
const MINUTES = numberFrom('MINUTES', 60)
const SEED = numberFrom('SEED', 20_261_121)

/** A round in so many is read by a tier meanwhile, and one in so many begins with a race. */
const WATCHED_EVERY = 3
const RACED_EVERY = 2

type Lane = {
  readonly name: string
  readonly ground: Ground
  readonly model: Model
  readonly moves: readonly number[]
}

/** Both grounds go on beside each other, until there were so many kills or so much time has passed. */
test(`${KILLS} kills (seed ${SEED}) within ${MINUTES} minutes`, async () => {
  const began = performance.now()
  let [killed, rounds, answers, isOver] = [0, 0, 0, false]
  const tell = (end: string) =>
    process.stderr.write(
      `${killed} of ${KILLS} kills, ${rounds} rounds, ${answers} answers read, ` +
        `${Math.round((performance.now() - began) / 1000)} s (seed ${SEED})${end}`,
    )
  const play = async (lane: Lane, seed: number): Promise<void> => {
    const kills = toRounds(KILLS, seed, lane.model)
    for (let i = 0; !isOver; i++) {
      const round = await playOne(lane, kills[i % kills.length]!, i, seed + i)
      killed += round.killed
      answers += round.answers
      rounds++
      isOver ||= killed >= KILLS || performance.now() - began > MINUTES * 60_000
      tell(process.stderr.isTTY ? '\r' : '\n')
    }
  }
  const lanes = await openLanes()
  await Promise.all(
    lanes.map((lane, i) =>
      play(lane, SEED + i).catch((cause: Error) => {
        isOver = true
        throw new Error(
          `${lane.name}: ${cause.message}\nreplay it with: make soak SEED=${SEED} KILLS=${KILLS}`,
          { cause },
        )
      }),
    ),
  )
  tell(': no violation\n')
})

async function openLanes(): Promise<readonly Lane[]> {
  const keyFile = await newKeyFile()
  const lanes: Lane[] = []
  for (const [name, makeGround] of [
    ['folder', fileGround],
    ['bucket', s3Ground],
  ] as const) {
    const ground = await makeGround(keyFile)
    const model = await modelOf(ground)
    lanes.push({ name, ground, model, moves: await countMoves(ground, model.stores) })
  }
  return lanes
}

async function playOne({ ground, model, moves }: Lane, round: Round, i: number, seed: number) {
  const stores = await ground.open()
  let [killed, answers] = [0, 0]
  const publish = async (): Promise<void> => {
    if (i % RACED_EVERY === 1) killed += await playRace(ground, stores, round[0]!)
    else killed += (await playRound(ground, stores, round, model)).killed
  }
  if (i % WATCHED_EVERY === 0) answers = await whileReading(stores, model.content, publish)
  else await publish()
  killed += await playMoves(ground, stores, moves, createRandom(seed))
  return { killed, answers }
}
