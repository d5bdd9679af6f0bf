import { type AdminParts, createAdminApp } from '#api/history/admin.ts'
import { type RunningServer, startServer } from '#api/http/http-server.ts'
import { codeOf } from '#storage/error-code.ts'
import { DEFAULT_ADMIN_PORT, type Environment } from '../environment.ts'

/**
 * Starts the admin listener. A port that somebody named must be had; where nobody did, one that is taken keeps no service
 * from starting: another is used, and said. A service on any free port has its listener on any free port.
 */
export async function listenAdmin(
  parts: AdminParts,
  { historyPort, operations }: Environment,
  note: (line: string) => void,
): Promise<RunningServer> {
  const listen = (port: number): Promise<RunningServer> =>
    startServer(() => createAdminApp(parts).fetch, operations.adminHost, port)
  try {
    return await listen(operations.adminPort ?? (historyPort === 0 ? 0 : DEFAULT_ADMIN_PORT))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (operations.adminPort !== null || codeOf(error.cause) !== 'EADDRINUSE') {
      throw new Error(`ADMIN_HOST, ADMIN_PORT: ${error.message}`, { cause: error })
    }
    const server = await listen(0)
    note(`${error.message}; the metrics are on ${server.url}: ADMIN_PORT names a port for them`)
    return server
  }
}
