import { toIsoInstant } from '#core/calendar.ts'
import { errorAnswer } from '../http/error-answer.ts'
import { type RunningServer, startServer } from '../http/http-server.ts'
import { createOperatorApp } from './app.ts'
import type { OperatorParts } from './parts.ts'

/** Starts the operator's interface. */
export const listenOperator = (parts: OperatorParts, host: string, port: number): Promise<RunningServer> =>
  startServer(
    () => ({
      fetch: createOperatorApp(parts).fetch,
      answerError: error =>
        errorAnswer(error, { generated_utc: toIsoInstant(parts.clock.now()), timing_ms: null }),
    }),
    host,
    port,
  )
