import { join } from 'node:path'
import { z } from 'zod'
import { ifThere } from '#storage/error-code.ts'
import type { Environment } from '../../settings/environment.ts'
import { readSecretFile, SECRET_FILES } from '../../settings/generated-secrets.ts'

/** A test fire to a webhook takes ten seconds at most. */
const TIMEOUT_MS = 30_000

/** Requests the operator interface, and returns `data` of its answer. Throws its message if it refuses. */
export type OperatorClient = (method: string, path: string, body?: unknown) => Promise<unknown>

const refusal = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.array(z.object({ param: z.string(), reason: z.string() })).catch([]),
  }),
})

/** With several problems, a line for each. The cause is the code of the refusal. */
function toError({ code, message, details }: z.output<typeof refusal>['error']): Error {
  const lines = details.map(({ param, reason }) => `\n  ${param}: ${reason}`)
  const text = lines.length < 2 ? `${message} (${code})` : `refused (${code}):${lines.join('')}`
  return new Error(text, { cause: code })
}

/** Uses OPERATOR_TOKEN, or the token that was generated on this machine. */
export async function createOperatorClient(settings: Environment): Promise<OperatorClient> {
  const url = settings.OPERATOR_URL ?? `http://127.0.0.1:${settings.OPERATOR_PORT}`
  const file = join(settings.DATA_FOLDER, SECRET_FILES.OPERATOR_TOKEN)
  const token = settings.OPERATOR_TOKEN ?? (await readTokenFile(file))
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}` }
    const json = { ...headers, 'content-type': 'application/json' }
    const sent = body === undefined ? { headers } : { headers: json, body: JSON.stringify(body) }
    const response = await ask(url, path, { method, ...sent })
    const value: unknown = await response.json().catch(() => null) // another server answers anything
    const answer = z.object({ data: z.unknown() }).safeParse(value)
    if (response.ok && answer.success) return answer.data.data
    const refused = refusal.safeParse(value)
    if (refused.success) throw toError(refused.data.error)
    throw new Error(
      `${url} answered ${response.status}, and not as the operator interface does: is OPERATOR_URL right?`,
    )
  }
}

/** A redirect would carry the token elsewhere. */
const ask = (url: string, path: string, init: RequestInit): Promise<Response> =>
  fetch(url + path, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (cause: unknown) => {
      throw new Error(
        `the operator interface does not answer at ${url}: start it with \`highwater run\`, or set OPERATOR_URL`,
        { cause },
      )
    },
  )

async function readTokenFile(path: string): Promise<string> {
  const token = await ifThere(readSecretFile(path), null)
  if (token !== null) return token
  throw new Error(
    `there is no operator token: set OPERATOR_TOKEN, or start the service on this machine, which makes ${path}`,
  )
}
