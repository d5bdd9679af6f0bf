import type { LoggedSignal } from '../log/read-log.ts'
import type { SendOrder } from './delivery-parts.ts'
import type { Outcome } from './outcome.ts'
import type { Sender } from './send.ts'
import { signedHeaders } from './sign.ts'
import { signalIdOf } from './test-fire.ts'

/** Sends a signal of the log, its exact bytes, signed at this moment. */
export const createSendSignal =
  (sender: Sender, now: () => number) =>
  ({ url, secrets, signal, prevSeq, attempt }: SendOrder): Promise<Outcome> => {
    const { body, id } = letterOf(signal)
    const delivery = { body, id, seq: signal.seq, prevSeq, attempt, sentAtMs: now() }
    return sender.send({
      url,
      headers: signedHeaders(delivery, { secrets, single: 'newest' }),
      body,
      secrets,
    })
  }

/** What is the same of a signal for all of its clients. */
type Letter = { readonly body: Uint8Array; readonly id: string }

const letters = new WeakMap<LoggedSignal, Letter>()

function letterOf(signal: LoggedSignal): Letter {
  const known = letters.get(signal)
  if (known !== undefined) return known
  const letter = { body: new TextEncoder().encode(signal.body), id: signalIdOf(signal.body) }
  letters.set(signal, letter)
  return letter
}
