// A client that is entitled to the program, and how it asks.
import type { Redis } from 'ioredis'
import { entitleClient } from '#signals/clients/clients.ts'
import { addClient, PROGRAM_ALIAS, seededBytes } from './signals.ts'
import { type createTestSignals, withKey } from './signals-app.ts'

export async function addEntitled(redis: Redis, id: string): Promise<string> {
  const { token } = await addClient(redis, id, [], seededBytes(id))
  await entitleClient(redis, id, { program: true }, PROGRAM_ALIAS)
  return token
}

/** Asks an app with a key; without one where it is empty. */
export function programClient(app: ReturnType<typeof createTestSignals>['app'], token: string) {
  const send = async (
    method: 'PUT' | 'POST',
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  ) => app.request(path, { method, headers: { 'X-API-Key': token, ...headers }, body })
  return {
    get: async (path: string) => app.request(path, withKey(token)),
    send,
    put: (path: string, body: unknown) => send('PUT', path, JSON.stringify(body)),
    post: (path: string, body: unknown) => send('POST', path, JSON.stringify(body)),
  }
}
