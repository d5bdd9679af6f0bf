// A build into a bucket that is killed anywhere leaves the version before served, or the new one whole.
import { test } from 'vitest'
import { s3Ground } from '../support/kills/grounds.ts'
import { KILLS, proveKilledBuilds, SEED, WEDGED_MS } from '../support/kills/killed-builds.ts'

test(
  `a build into a bucket, killed at ${KILLS} of its operations (seed ${SEED}), leaves a whole version each time, is finished by the same command, and no answer is torn meanwhile`,
  () => proveKilledBuilds(s3Ground),
  WEDGED_MS,
)
