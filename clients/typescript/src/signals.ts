// Live signals, for clients of the signals service.
import type * as Wire from './generated/signals.ts'
import { HighwaterError } from './highwater-error.ts'
import {
  type CallOptions,
  type ClientOptions,
  createTransport,
  queryOf,
  type Transport,
  wait,
} from './requests.ts'
import { checkSeals, fail, type SealState } from './seals.ts'
import { nullIfMissing } from './verify.ts'

/** Signals of one request: a page has some 200 kB. */
const PAGE = 500

/** With and without signals: the rhythm of the requests says nothing of these. */
const CHECK_EVERY_MS = 720_000

/** Which signals to pull. */
export type SignalsOptions = CallOptions & {
  /** The number of the last signal that was processed; 0 gives everything. */
  readonly since: number
  /** Looks for new signals again after so many seconds, until it is aborted. Without it the signals end with the log. */
  readonly everySeconds?: number
  /** One of your endpoints: only what it is to be sent by its filter. */
  readonly endpoint?: string
}

/** `expired` names the endpoints that an entry was not sent to because it was too old. A `flat` never expires. */
export type PulledSignal = Wire.Signal & { readonly expired?: readonly string[] }

/** How seals are checked. */
export type SealsOptions = {
  /** Address of the history service that you know, where the seals are read. Without it, where the service says. */
  readonly history?: string | undefined
  /** What `onCheck` got last. A new client without it forgets a fault, and trusts the chain that it sees first. */
  readonly state?: SealState | undefined
  /** Gets what is known after each check, and the error if it failed. */
  readonly onCheck?: (state: SealState, error?: unknown) => unknown
}

/** The log of signals, as the client of a key sees it. The key belongs on a server: never into a page. */
export class HighwaterSignals {
  readonly #transport: Transport
  readonly #options: ClientOptions
  readonly #seals: SealsOptions | null
  readonly #delivered = new Map<number, string>()
  #state: SealState | undefined
  #last = Number.POSITIVE_INFINITY
  #turn = 0
  #isChecking = false

  /** With `seals: false` nothing is checked by itself. */
  constructor(
    base: string,
    { key, seals = {}, ...options }: ClientOptions & { key: string; seals?: SealsOptions | false },
  ) {
    const init = { headers: { 'x-api-key': key }, redirect: 'manual' } as const // the key is sent to no other server
    this.#transport = createTransport(base, options, 'signals', init)
    this.#options = options
    this.#seals = seals || null
    this.#state = this.#seals?.state
  }

  /** The client of the key, its status and the strategies whose signals it gets. */
  whoami(options?: CallOptions) {
    return this.#transport.read<Wire.WhoamiAnswer>('/v1/whoami', options)
  }

  /** The end of the log: the number of the newest signal, and the epoch. */
  head(options?: CallOptions) {
    return this.#transport.read<Wire.HeadAnswer>('/v1/signals/head', options)
  }

  /** What your account needs attention for, newest first. */
  notices(options?: CallOptions) {
    return this.#transport.read<Wire.NoticesAnswer>('/v1/notices', options)
  }

  /** What became of a signal at each endpoint, its attempts, and why it was not sent if it was not. */
  delivery(seq: number, options?: CallOptions) {
    return this.#transport.read<Wire.DeliveryAnswer>(`/v1/deliveries/${seq}`, options)
  }

  /** Sends signals again, to one endpoint or all; with `dry_run` they are only counted. */
  resend(body: Wire.ResendRequest, options?: CallOptions) {
    return this.#transport.send<Wire.ResendAnswer>('POST', '/v1/resend', body, options)
  }

  /** Your endpoints, `default` first: health, settings, and what they are owed. */
  endpoints(options?: CallOptions) {
    return this.#transport.read<Wire.EndpointsAnswer>('/v1/endpoints', options)
  }

  /** Sets an endpoint if its address acknowledges a signed test. The answer has the secret if it was made there. */
  setEndpoint(name: string, body: Wire.EndpointRequest, options?: CallOptions) {
    return this.#transport.send<Wire.PutEndpointAnswer>('PUT', endpoint(name), body, options)
  }

  /** Pauses an endpoint, and sets its filter, headers and expiry; what is left out stays as it is. */
  changeEndpoint(name: string, body: Wire.EndpointChange, options?: CallOptions) {
    return this.#transport.send<Wire.PatchEndpointAnswer>('PATCH', endpoint(name), body, options)
  }

  /** Makes a new secret, which only this answer shows; the old one also signs for a day, or for `overlap_hours`. */
  rotateSecret(name: string, body: Wire.RotationRequest = {}, options?: CallOptions) {
    return this.#transport.send<Wire.RotateEndpointAnswer>('POST', endpoint(name, '/rotate'), body, options)
  }

  /** Fires a test signal to one endpoint, and gives its number. */
  testEndpoint(name: string, options?: CallOptions) {
    return this.#transport.send<Wire.TestEndpointAnswer>('POST', endpoint(name, '/test'), undefined, options)
  }

  /** Nothing more is sent there. */
  async removeEndpoint(name: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', endpoint(name), undefined, options)
  }

  /** The deliveries to your endpoints, newest first, page by page: end it when you have enough. */
  async *deliveries(
    query: Wire.DeliveriesQuery = {},
    options?: CallOptions,
  ): AsyncGenerator<Wire.OwnDelivery, void> {
    const first = `/v1/deliveries${queryOf(query)}`
    for await (const [{ data }] of this.#transport.pages<Wire.DeliveriesAnswer>(first, options)) yield* data
  }

  /**
   * Every signal after `since`, ascending and each `signal_id` once, page by page. After a push whose `prevSeq` is above the
   * last number that was processed, this closes the gap. If the log gets a new epoch because it was restored from a copy,
   * everything after `since` is pulled again, and what was not yielded before is yielded. If it looks again it also calls
   * `checkSeals()` at first and every 12 minutes, and throws `seal_mismatch`.
   */
  async *signals({
    since,
    everySeconds,
    endpoint,
    ...options
  }: SignalsOptions): AsyncGenerator<PulledSignal, void> {
    const yielded = new Set<string>()
    let [last, epoch] = [since, '']
    this.#last = since
    this.#state ??= { checked_seq: since }
    while (true) {
      const { data: head } = await this.head(options)
      if (head.epoch !== epoch) last = since
      epoch = head.epoch
      const first = `/v1/signals/history${queryOf({ since: last, limit: PAGE, endpoint })}`
      for await (const signal of this.#pull(last < head.seq ? first : undefined, options)) {
        last = signal.seq
        if (yielded.has(signal.signal_id)) continue
        yielded.add(signal.signal_id)
        yield signal
      }
      if (everySeconds === undefined) return
      if (this.#seals) this.#checkIfDue(options)
      await wait(everySeconds, options.signal)
    }
  }

  /**
   * Checks that the signals that this client yielded are in the seals that everybody sees. Throws `seal_mismatch` if not, and again
   * at each further call; any other error says why nothing was checked. Call it at times that do not depend on signals: it reads public
   * files, and who sees the requests would know when a signal was given.
   */
  async checkSeals(options: CallOptions = {}): Promise<SealState> {
    const state = this.#state ?? { checked_seq: 0 }
    try {
      this.#state = await this.#check(state, options)
    } catch (error) {
      const isMismatch = error instanceof HighwaterError && error.code === 'seal_mismatch'
      this.#state = isMismatch ? { ...state, fault: error.message } : state
      await this.#seals?.onCheck?.(this.#state, error)
      throw error
    }
    for (const seq of this.#delivered.keys()) if (seq <= this.#state.checked_seq) this.#delivered.delete(seq)
    await this.#seals?.onCheck?.(this.#state)
    return this.#state
  }

  async #check(state: SealState, options: CallOptions): Promise<SealState> {
    if (state.fault !== undefined) fail(state.fault)
    const receipts: Wire.Receipt[] = []
    let base = this.#seals?.history
    const first = `/v1/signals/seals?since=${state.checked_seq}`
    for await (const [{ data, links }] of this.#transport.pages<Wire.SealsAnswer>(first, options)) {
      receipts.push(...data.filter(({ seq }) => seq <= this.#last)) // a later one is checked when its signal is here
      base ??= links.seals?.replace('/v1/seals/', '')
    }
    if (base === undefined) fail('the service does not say where its seals are', 'not_published')
    const { request } = createTransport(base, this.#options, 'history')
    const read = (name: string) =>
      request(`/v1/seals/${name}`, options).then(({ bytes }) => bytes, nullIfMissing)
    return checkSeals(receipts, new Map(this.#delivered), read, state)
  }

  /** Begins a check: no signal waits for it. */
  #checkIfDue(options: CallOptions): void {
    if (this.#state?.fault !== undefined) fail(this.#state.fault)
    const turn = Math.floor(Date.now() / CHECK_EVERY_MS)
    if (turn === this.#turn || this.#isChecking) return
    this.#turn = turn
    this.#isChecking = true
    const end = () => {
      this.#isChecking = false // `onCheck` has the error, and the state a mismatch
    }
    this.checkSeals(options).then(end, end)
  }

  async *#pull(first: string | undefined, options: CallOptions): AsyncGenerator<PulledSignal, void> {
    for await (const [{ data, meta }, text] of this.#transport.pages<Wire.HistoryAnswer>(first, options)) {
      const texts = rowsOf(text)
      const expired = new Map(meta?.expired?.map(({ seq, endpoints }) => [seq, endpoints]))
      for (const [i, signal] of data.entries()) {
        if (this.#seals) this.#delivered.set(signal.seq, texts[i] ?? '')
        this.#last = signal.seq
        const endpoints = expired.get(signal.seq)
        yield endpoints === undefined ? signal : { ...signal, expired: endpoints }
      }
    }
  }
}

const endpoint = (name: string, action = '') => `/v1/endpoints/${encodeURIComponent(name)}${action}`

/** The exact text of each row of an answer: serialised again it may differ. */
function rowsOf(answer: string): string[] {
  const rows: string[] = []
  let [depth, begin] = [0, 0]
  for (const { 0: token, index } of answer.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if ('[{'.includes(token) && ++depth === 3) begin = index
    if (']}'.includes(token) && --depth === 2) rows.push(answer.slice(begin, index + 1))
    if (depth === 1 && token === ']') break
  }
  return rows
}
