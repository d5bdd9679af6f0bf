// What a client keeps for its personal basket.
import { z } from 'zod'
import { instant, recordHead } from './program-field.ts'
import { simulationInput } from './program-simulation.ts'

/** `/v1/program/profile`. */
export const programProfile = z
  .looseObject({
    ...recordHead,
    ...simulationInput.shape,
    updated_utc: instant('When it was stored.'),
  })
  .describe('What `view=personal` is computed with, exactly as it was asked for.')
