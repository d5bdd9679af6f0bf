// Kills of two sealers at once, on one chain that goes on.
import { openKilledSealers } from '../support/signals/sealer-kills.ts'
import { soak } from './soak.ts'

soak('seals', openKilledSealers, 1)
