// Live runners that are killed while their feed grows, one seed after another: each fires everything once.
import { openKilledRunners } from '../support/signals/live-kills.ts'
import { soak } from './soak.ts'

soak('live', openKilledRunners)
