// A build into a folder that is killed anywhere leaves the version before served, or the new one whole.
import { test } from 'vitest'
import { fileGround } from '../support/kills/grounds.ts'
import { KILLS, proveKilledBuilds, SEED, WEDGED_MS } from '../support/kills/killed-builds.ts'

test(
  `a build into a folder, killed at ${KILLS} of its operations (seed ${SEED}), leaves a whole version each time, is finished by the same command, and no answer is torn meanwhile`,
  () => proveKilledBuilds(fileGround),
  WEDGED_MS,
)
