// A proxy in front of the tier that records every answer, and fails on request.
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Address } from '#cli/edge/site.ts'
import { type Origin, startOrigin } from '../servers/cdn.ts'

export type WatchedTier = Origin & {
  /** What was answered to each request but the probes of Varnish, oldest first: `304 /v1/strategies`. */
  readonly answered: string[]
  /** From now on everything is answered with this status, or, with null, by the tier. */
  readonly failWith: (status: number | null) => void
}

/** Starts it in front of a tier. */
export async function watchTier(tier: Address): Promise<WatchedTier> {
  const answered: string[] = []
  let failure: number | null = null
  const origin = await startOrigin((incoming, outgoing) => {
    if (failure !== null) {
      outgoing.writeHead(failure, { 'content-type': 'text/plain' }).end('failed on purpose')
      return
    }
    passOn(tier, incoming, outgoing, status => {
      if (incoming.url !== '/healthz') answered.push(`${status} ${incoming.url}`)
    })
  })
  return {
    ...origin,
    answered,
    failWith: status => {
      failure = status
    },
  }
}

function passOn(
  { host, port }: Address,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  report: (status: number) => void,
): void {
  const { url: path, method, headers } = incoming
  const sent = request({ host, port, path, method, headers }, answer => {
    report(answer.statusCode ?? 0)
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
    answer.pipe(outgoing)
  })
  sent.once('error', () => outgoing.destroy())
  incoming.pipe(sent)
}
