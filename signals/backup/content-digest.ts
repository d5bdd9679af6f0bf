import { signal } from '#core/contract/signal.ts'
import { sha256 } from '#storage/digest.ts'

/** The id of a stored signal, and the digest of what its caller gave: the bytes without their number. */
export function contentDigestOf(body: string): { readonly signalId: string; readonly sha256: string } {
  const { signal_id, seq } = signal.parse(JSON.parse(body))
  // Inside of a text the quotes would be escaped, so the first place is the right one.
  const [head, number] = [body.indexOf(SEQ) + SEQ.length, String(seq).length]
  const content = body.slice(0, head) + body.slice(head + number)
  return { signalId: signal_id, sha256: sha256(new TextEncoder().encode(content)) }
}

const SEQ = ',"seq":'
