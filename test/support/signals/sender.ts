// A sender under the control of a test: its clock stands still, its timers fire on request, its resolver knows one name.
import type { ConnectOptions } from '#signals/send/guarded-connect.ts'
import { createSender, type Post, type Sender } from '#signals/send/send.ts'
import { atEnd } from '../ends.ts'

export type TestSender = Sender & {
  /** The clock, epoch milliseconds, and how often it was read: at the start, at the head and at the end of an answer. */
  readonly clock: { ms: number; reads: number }
  /** Ends the waits that were to last so long; how many there were. */
  expire(ms: number): number
}

/** A sender that may go to loopback, where `receiver.test` is. */
export function createTestSender(options: Partial<ConnectOptions> = {}): TestSender {
  const clock = { ms: Date.parse('2026-11-21T00:00:00Z'), reads: 0 }
  const timers = new Set<{ readonly ms: number; readonly run: () => void }>()
  const sender = createSender({
    rules: { allowLoopback: true },
    resolveHost: async () => ['127.0.0.1'],
    now() {
      clock.reads++
      return clock.ms
    },
    startTimer(ms, run) {
      const timer = { ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    ...options,
  })
  atEnd(sender.close)
  return {
    ...sender,
    clock,
    expire(ms) {
      const expired = [...timers].filter(timer => timer.ms === ms)
      for (const timer of expired) {
        timers.delete(timer)
        timer.run()
      }
      return expired.length
    },
  }
}

/** A delivery to `url`, as small as it may be. */
export const postTo = (url: string, more: Partial<Post> = {}): Post => ({
  url,
  headers: { 'content-type': 'application/json', 'x-signal-seq': '7' },
  body: new TextEncoder().encode('{"seq":7,"note":"é"}'),
  secrets: [],
  ...more,
})
