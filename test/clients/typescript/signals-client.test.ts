// What the client of the signals does if the log is restored from a copy, and if it is led to another server.
import { expect, test } from 'vitest'
import { HighwaterSignals } from '../../../clients/typescript/src/index.ts'
import { start } from '../../support/http/raw-server.ts'
import { rejection } from './watched-service.ts'

test('a log with a new epoch is pulled again from the start, and what was yielded is not yielded again', async () => {
  const rounds = [
    { epoch: 'one', seqs: [6, 7] },
    { epoch: 'one', seqs: [6, 7, 8] },
    { epoch: 'two', seqs: [6, 7, 900] },
  ]
  let round = -1
  const asked: string[] = []
  const answerOf = (url: string): unknown => {
    if (url.endsWith('/head')) round++
    const { epoch, seqs } = rounds[Math.min(round, rounds.length - 1)]!
    if (url.endsWith('/head')) return { data: { epoch, seq: seqs.at(-1) } }
    asked.push(url)
    const since = Number(/since=(\d+)/.exec(url)?.[1])
    return { data: seqs.filter(seq => seq > since).map(seq => ({ seq, signal_id: `s${seq}` })), links: {} }
  }
  const live = new HighwaterSignals('http://service.test', {
    key: 'a key',
    fetch: async url => Response.json(answerOf(url)),
  })
  const numbers: number[] = []
  for await (const { seq } of live.signals({ since: 5, everySeconds: 0 })) {
    numbers.push(seq)
    if (seq === 900) break
  }
  expect(numbers).toEqual([6, 7, 8, 900])
  expect(asked.map(url => /since=\d+/.exec(url)?.[0])).toEqual(['since=5', 'since=7', 'since=5'])
})

test('the key of the signals is sent in a header, and to no other server', async () => {
  const seen: (string | null)[] = []
  const other = await start(request => {
    seen.push(`other ${request.headers.get('x-api-key')}`)
    return new Response()
  })
  const { url } = await start(request => {
    seen.push(request.headers.get('x-api-key'))
    return Response.redirect(other.url)
  })
  const live = new HighwaterSignals(url, { key: 'a key' })
  expect(await rejection(live.head())).toBeInstanceOf(TypeError)
  expect(seen).toEqual(['a key'])
})
