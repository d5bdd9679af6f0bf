// The builds on a fleet that are under way.
import { z } from 'zod'
import { fleetProgress } from '#storage/fleet-progress.ts'
import { operatorRoute } from '../operator-route.ts'

const builds = z
  .object({
    builds: z
      .array(fleetProgress)
      .describe('Builds on a fleet that are under way, or were killed and not continued.'),
  })
  .meta({ id: 'FleetBuilds' })

export const BUILD_ROUTES = [
  operatorRoute({
    id: 'builds',
    path: '/ops/builds',
    scope: 'read',
    title: 'Progress of builds on a fleet',
    about:
      'The phase of each build, the tasks that are done, and by which workers. A build on one machine is not listed.',
    data: builds,
    command: { usage: 'builds' },
    handler: async (_, parts) => ({ data: { builds: [...(await parts.builds())] } }),
  }),
]
