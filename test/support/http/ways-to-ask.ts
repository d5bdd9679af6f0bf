// The same request in process and over a wire.
import type { Pool } from 'undici'
import type { App } from '../../api/history/answers.ts'
import type { Ask } from './hold-to-document.ts'

type Headers = Readonly<Record<string, string>>

/** Asks an app. */
export const askIn =
  (app: App, headers: Headers = {}): Ask =>
  async (method, address, body = null) => {
    const response = await app.request(`http://localhost${address}`, { method, headers, body })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    }
  }

/** Asks a server; the address is sent as it is. */
export const askOver =
  (pool: Pool, headers: Headers = {}): Ask =>
  async (method, address, body = null) => {
    const {
      statusCode,
      headers: received,
      body: stream,
    } = await pool.request({
      method,
      path: address,
      headers,
      body,
    })
    return {
      status: statusCode,
      headers: Object.fromEntries(Object.entries(received).map(([name, value]) => [name, String(value)])),
      body: Buffer.from(await stream.arrayBuffer()),
    }
  }
