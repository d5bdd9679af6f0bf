// The one loop of every test that kills processes: of builds, of everything else that publishes, of fleets, of the signals
// service and of live runners. What is killed and when is decided by a seed; what is killed is started again.

/** Waits for its instant, which is an operation, a request, a signal or a time, and kills. */
export type Strike = {
  readonly name: string
  /** Whether there was something to kill. Starts it again, if the next strike or `finish` does not. */
  readonly hit: () => Promise<boolean>
}

export type Round = {
  /** Those of one list wait at the same time; the next list begins when all of them have hit. */
  readonly strikes: readonly (readonly Strike[])[]
  /** Lets what was killed do its work. */
  readonly finish: () => Promise<void>
  /** Everything that does not hold, after each list of strikes and, finished, at the end. */
  readonly violations: (isFinished: boolean) => Promise<readonly string[]>
}

/** Plays a round and returns how many were killed. Throws what is violated, and after which strikes. */
export async function playRound({ strikes, finish, violations }: Round): Promise<number> {
  const struck: string[] = []
  let killed = 0
  const check = async (isFinished: boolean): Promise<void> => {
    const found = await violations(isFinished)
    if (found.length > 0) throw new Error(found.join('; '))
  }
  try {
    for (const each of strikes) {
      struck.push(each.map(({ name }) => name).join(' and '))
      const hits = await Promise.all(each.map(({ hit }) => hit()))
      killed += hits.filter(isHit => isHit).length
      await check(false)
    }
    struck.push('finished')
    await finish()
    await check(true)
    return killed
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${struck.join(', then ')}: ${message}`, { cause })
  }
}
