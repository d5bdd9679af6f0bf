// What must hold of a history of signals, whatever was killed meanwhile: the list of what does not.
import type { LoggedSignal } from '#signals/log/read-log.ts'
import type { Received } from './receiver.ts'

/** What the client that fires knows. */
export type Fired = {
  readonly alias: string
  /** Every number that it was answered; none where every answer was lost. */
  readonly seqs: readonly number[]
}

export type History = {
  /** By signal id. */
  readonly fired: ReadonlyMap<string, Fired>
  readonly log: readonly LoggedSignal[]
  /** Up to here all of the log should have been delivered by now. */
  readonly settledSeq: number
  readonly received: readonly Received[]
  readonly entitled: Readonly<Record<string, readonly string[]>>
}

/**
 * Every violation, empty where there is none: an acknowledged fire that is not in the log under its number, two numbers
 * for one id, a hole in the numbers, a signal that was never fired; a delivery that is missing, was invented, is not the bytes
 * of the log, or names another predecessor than the signal before it of those that its client may have.
 */
export function violationsIn(history: History): string[] {
  return [...violationsInLog(history), ...violationsInDeliveries(history)]
}

function violationsInLog({ fired, log }: History): string[] {
  const found: string[] = []
  const seqOf = new Map<string, number>()
  for (const [i, { seq, body, alias }] of log.entries()) {
    const id = idOf(body)
    if (seq !== i + 1) found.push(`signal ${seq} stands at place ${i + 1} of the log`)
    if (seqOf.has(id)) found.push(`${id} is signal ${seqOf.get(id)} and signal ${seq}`)
    if (fired.get(id)?.alias !== alias) found.push(`nobody fired ${id} of ${alias}, which is signal ${seq}`)
    seqOf.set(id, seq)
  }
  for (const [id, { seqs }] of fired)
    for (const seq of new Set(seqs))
      if (seqOf.get(id) !== seq) found.push(`${id} was acknowledged as ${seq}, and is ${seqOf.get(id)}`)
  return found
}

function violationsInDeliveries({ log, settledSeq, received, entitled }: History): string[] {
  const found: string[] = []
  const byClient = Map.groupBy(received, ({ client }) => client)
  for (const [client, aliases] of Object.entries(entitled)) {
    const own = log.filter(({ alias }) => aliases.includes(alias))
    const prevOf = new Map(own.map(({ seq }, i) => [seq, own[i - 1]?.seq ?? 0]))
    const got = byClient.get(client) ?? []
    for (const one of got) {
      const prev = prevOf.get(one.seq)
      if (prev === undefined) found.push(`${client} got ${one.seq}, which it may not have`)
      else if (one.prevSeq !== prev) found.push(`${client} got ${one.seq} after ${one.prevSeq}, not ${prev}`)
      if (one.body !== log[one.seq - 1]?.body) found.push(`${client} got other bytes of ${one.seq}`)
    }
    const seqs = new Set(got.map(({ seq }) => seq))
    for (const { seq } of own)
      if (seq <= settledSeq && !seqs.has(seq)) found.push(`${client} never got ${seq}`)
  }
  for (const client of byClient.keys())
    if (!Object.hasOwn(entitled, client)) found.push(`${client} is no client, and got something`)
  return found
}

const idOf = (body: string): string => {
  const { signal_id } = JSON.parse(body) as { signal_id: string } // made by the product
  return signal_id
}
