// A receiver of webhooks on loopback, which ends with the running test, or with the file if no test runs.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenForTest } from '../http/listen-for-test.ts'

/** A request that a receiver got. */
export type Received = {
  readonly client: string
  readonly seq: number
  readonly prevSeq: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Receiver = {
  /** Where a client's webhook is. */
  readonly urlOf: (client: string) => string
  /** Every whole request, in the order of arrival, however it was answered. */
  readonly received: readonly Received[]
  readonly of: (client: string) => readonly number[]
}

export type ReceiverAnswer = (request: Received, response: ServerResponse) => void

export const acknowledge: ReceiverAnswer = (_, response) => void response.end()

/** One server for many clients, each at a path of its own. */
export async function startReceiver(answer: ReceiverAnswer = acknowledge): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { headers, url = '' } = request
      const seq = Number(headers['x-signal-seq'])
      const one = { client: url.slice(1), seq, prevSeq: Number(headers['x-prev-seq']), headers, body }
      received.push(one)
      answer(one, response)
    })
  })
  const origin = await listenForTest(server)
  return {
    urlOf: client => `${origin}/${client}`,
    received,
    of: client => received.filter(one => one.client === client).map(({ seq }) => seq),
  }
}
