// Deliveries of the service to a webhook, verified with Web Crypto, which every runtime has.
import type { Notice, Signal } from './generated/signals.ts'
import { HighwaterError, parse } from './highwater-error.ts'
import { fromBase64 } from './requests.ts'

/** The headers of a request, as `fetch` has them or as Node has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>

export type VerifyOptions = {
  /** By how much the time of a delivery may differ from now, against replayed requests. Seconds, 300 by default. */
  readonly toleranceSeconds?: number
  /** Epoch milliseconds; the clock of the machine by default. */
  readonly nowMs?: number
  /** Gets a signed notice before it is refused. */
  readonly onNotice?: (notice: Notice) => unknown
}

/** A delivery that the service signed. If the signal `prevSeq` was not processed (0 for none), pull. */
export type Delivery = { readonly signal: Signal; readonly prevSeq: number }

/** The service signs with a few secrets at most; more signatures would only cost time. */
const MOST_SIGNATURES = 8

/**
 * Verifies a delivery by `webhook-signature` and `webhook-timestamp`, and gives its signal. `body` is the raw body, because
 * serialising parsed JSON changes bytes. While the secret is being changed, give both secrets. Throws `HighwaterError` with
 * `bad_signature` (status 401) if no secret signed it or its time is too far from now, `notice` (status 204) if it is a notice, which
 * is no signal and has no number, and `bad_request` (status 400) for any other body. Throws `TypeError` for a secret of another form.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: Uint8Array | string,
  secret: string | readonly string[],
  { toleranceSeconds = 300, nowMs = Date.now(), onNotice }: VerifyOptions = {},
): Promise<Delivery> {
  const given = new Headers(headers as Headers) // Headers takes both, and text in place of undefined
  const timestamp = given.get('webhook-timestamp') ?? ''
  if (!/^\d+$/.test(timestamp) || Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds)
    throw badSignature(
      `the delivery was signed at ${timestamp}, which differs from this clock by more than ${toleranceSeconds} s`,
    )
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const signed = await new Blob([`${given.get('webhook-id')}.${timestamp}.`, bytes]).arrayBuffer()
  const signatures = (given.get('webhook-signature') ?? '').split(' ', MOST_SIGNATURES).map(fromText('v1,'))
  for (const each of typeof secret === 'string' ? [secret] : secret) {
    const key = await toKey(each)
    for (const signature of signatures) {
      const isSigned = signature && (await crypto.subtle.verify('HMAC', key, signature, signed))
      if (isSigned)
        return { signal: await toSignal(bytes, onNotice), prevSeq: Number(given.get('x-prev-seq')) }
    }
  }
  throw badSignature('the delivery is not signed with your secret, or was altered')
}

const badSignature = (message: string) => new HighwaterError('bad_signature', message, 401)

/** Reads base64 behind a prefix; null if the text is of another form. */
const fromText = (prefix: string) => (text: string) => {
  try {
    if (!text.startsWith(prefix)) return null
    return fromBase64(text.slice(prefix.length))
  } catch {
    return null
  }
}

async function toKey(secret: string) {
  const bytes = fromText('whsec_')(secret)
  if (bytes === null || bytes.length === 0)
    throw new TypeError('a webhook secret is whsec_ and base64: give the secret that was registered')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Fields that later versions add are kept. */
async function toSignal(body: Uint8Array, onNotice: VerifyOptions['onNotice']): Promise<Signal> {
  const sent = parse(new TextDecoder().decode(body)) as Partial<Signal & Notice> | null | undefined // checked below
  if (typeof sent?.signal_id === 'string' && Number.isSafeInteger(sent.seq)) return sent as Signal
  if (typeof sent?.event === 'string' && sent.seq === undefined) {
    await onNotice?.(sent as Notice)
    throw new HighwaterError(
      'notice',
      `a notice, ${sent.event}, and no signal: nothing is to be done for it`,
      204,
    )
  }
  throw new HighwaterError('bad_request', 'the body of the delivery is not a signal', 400)
}
