import { type RunningServer, startServer } from '../http/http-server.ts'
import { createOperatorApp } from './app.ts'
import type { OperatorParts } from './parts.ts'

/** Starts the operator's interface. */
export const listenOperator = (parts: OperatorParts, host: string, port: number): Promise<RunningServer> =>
  startServer(() => createOperatorApp(parts).fetch, host, port)
