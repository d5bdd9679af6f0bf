import { ApiError } from '#core/contract/errors.ts'
import { list, named, request, text } from '#core/contract/payloads/field.ts'
import { messageOf } from '#storage/error-code.ts'
import { fleetProgress } from '#storage/fleet-progress.ts'
import { operatorRoute } from '../operator-route.ts'

const builds = named('FleetBuilds', {
  builds: list('Builds on a fleet that are under way, or were killed and not continued.', fleetProgress),
})

const servedVersion = request('ServedVersion', {
  version: text('a published version such as 2026-11-20T00:15:00Z'),
})

export const BUILD_ROUTES = [
  operatorRoute({
    id: 'builds',
    path: '/ops/builds',
    title: 'Progress of builds on a fleet',
    about:
      'The phase of each build, the tasks that are done, and by which workers. A build on one machine is not listed.',
    data: builds,
    command: { usage: 'builds' },
    handler: async (_, parts) => ({ data: { builds: [...(await parts.builds())] } }),
  }),
  operatorRoute({
    id: 'rollback',
    method: 'POST',
    path: '/ops/rollback',
    scope: 'everything',
    subject: { kind: 'name', field: 'version' },
    title: 'Serve an older version again; nothing is deleted',
    about:
      'What `highwater rollback` does, by the service: with its key, and never without a signature where entries have one. ' +
      'Servers follow within five seconds, and the next night publishes as ever.',
    body: servedVersion,
    data: servedVersion,
    refusals: ['conflict'],
    example: { path: '/ops/rollback', body: { version: '2026-11-20T00:15:00Z' } },
    command: { usage: 'rollback <version>' },
    form: {
      offers: [{ at: 'version', button: 'Roll back…', tone: 'stop' }],
      warn: ({ version }) => [
        `Serve ${version} again?`,
        'Every client of the history gets this version within seconds. Nothing is deleted, and the next night publishes as ever.',
      ],
      done: 'The version is served: servers follow within five seconds.',
    },
    handler: async ({ version }, parts) => {
      await parts.rollBack(version).catch((error: unknown) => {
        throw new ApiError('conflict', messageOf(error)) // a sentence with the fix, for whoever owns the store
      })
      return { data: { version } }
    },
  }),
]
