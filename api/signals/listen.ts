import { type RunningServer, startServer } from '../http/http-server.ts'
import { createSignalsApp } from './app.ts'
import type { SignalsParts } from './exchange.ts'

/** Starts the signals service; its parts are made once the address is known. */
export const listenSignals = (
  createParts: (url: string) => SignalsParts,
  host: string,
  port: number,
): Promise<RunningServer> => startServer(url => createSignalsApp(createParts(url)).fetch, host, port)
