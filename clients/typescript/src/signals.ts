// Live signals, for clients of the signals service.
import type { HeadAnswer, HistoryAnswer, Signal, WhoamiAnswer } from './generated/signals.ts'
import { type CallOptions, type ClientOptions, createTransport, type Read, wait } from './requests.ts'

/** Signals of one request: a page has some 200 kB. */
const PAGE = 500

/** Which signals to pull. */
export type SignalsOptions = CallOptions & {
  /** The number of the last signal that was processed; 0 gives everything. */
  readonly since: number
  /** Looks for new signals again after so many seconds, until it is aborted. Without it the signals end with the log. */
  readonly everySeconds?: number
}

/** The log of signals, as the client of a key sees it. The key belongs on a server: never into a page. */
export class HighwaterSignals {
  readonly #read: Read

  constructor(base: string, { key, ...options }: ClientOptions & { readonly key: string }) {
    const init = { headers: { 'x-api-key': key }, redirect: 'manual' } as const // the key is sent to no other server
    this.#read = createTransport(base, options, 'signals', init).read
  }

  /** The client of the key, its status and the strategies whose signals it gets. */
  whoami(options?: CallOptions): Promise<WhoamiAnswer> {
    return this.#read('/v1/whoami', options)
  }

  /** The end of the log: the number of the newest signal, and the epoch. */
  head(options?: CallOptions): Promise<HeadAnswer> {
    return this.#read('/v1/signals/head', options)
  }

  /**
   * Every signal after `since`, ascending and each `signal_id` once, page by page. After a push whose `prevSeq` is above the
   * last number that was processed, this closes the gap. If the log gets a new epoch because it was restored from a copy,
   * everything after `since` is pulled again, and what was not yielded before is yielded.
   */
  async *signals({ since, everySeconds, ...options }: SignalsOptions): AsyncGenerator<Signal, void> {
    const yielded = new Set<string>()
    let [last, epoch] = [since, '']
    while (true) {
      const { data: head } = await this.head(options)
      if (head.epoch !== epoch) last = since
      epoch = head.epoch
      for await (const signal of this.#after(last, head.seq, options)) {
        last = signal.seq
        if (yielded.has(signal.signal_id)) continue
        yielded.add(signal.signal_id)
        yield signal
      }
      if (everySeconds === undefined) return
      await wait(everySeconds, options.signal)
    }
  }

  async *#after(last: number, newest: number, options: CallOptions): AsyncGenerator<Signal, void> {
    let path = last < newest ? `/v1/signals/history?since=${last}&limit=${PAGE}` : undefined
    while (path !== undefined) {
      const { data, links }: HistoryAnswer = await this.#read(path, options)
      yield* data
      path = links.next
    }
  }
}
