import { toIsoInstant } from '#core/calendar.ts'
import { errorAnswer } from '../http/error-answer.ts'
import { type RunningServer, startServer } from '../http/http-server.ts'
import { createSignalsApp } from './app.ts'
import type { SignalsParts } from './exchange.ts'

/** Starts the signals service; its parts are made once the address is known. */
export const listenSignals = (
  createParts: (url: string) => SignalsParts,
  host: string,
  port: number,
): Promise<RunningServer> =>
  startServer(
    url => {
      const parts = createParts(url)
      return {
        fetch: createSignalsApp(parts).fetch,
        answerError: error =>
          errorAnswer(error, { generated_utc: toIsoInstant(parts.clock.now()), timing_ms: null }),
      }
    },
    host,
    port,
  )
