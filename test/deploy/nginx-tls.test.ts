// nginx as `highwater nginx` configures it: HTTPS with the certificate of the operator, and everything that plain HTTP may do.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { beforeAll, expect, inject, test } from 'vitest'
import { startLocalServer } from '#cli/services/local-server.ts'
import { run } from '../cli/made-up.ts'
import { atEndOfProcess } from '../support/ends.ts'
import { shared } from '../support/runner/shared.ts'
import { addressOf, startOrigin } from '../support/servers/cdn.ts'
import { ownPort } from '../support/servers/own-port.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const [DATA, SIGNALS] = ['data.example.org', 'signals.example.org']

let folder: string
let tier: string
let ports: { readonly https: number; readonly http: number }

/** Replaces the certificate, which its owner signed, and its key at once: nginx must not read half of a file. */
async function replaceCertificate(serial: number): Promise<void> {
  const args = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', `/CN=${DATA}`, '-addext', `subjectAltName=DNS:${DATA},DNS:${SIGNALS}`]
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const files = ['-keyout', `${key}.new`, '-out', `${certificate}.new`, '-set_serial', String(serial)]
  execFileSync('openssl', ['req', ...args, ...names, ...files], { stdio: 'ignore' })
  for (const file of [key, certificate]) await rename(`${file}.new`, file)
}

const secureTo = (servername: string) => ({
  ...{ host: '127.0.0.1', port: ports.https, servername, rejectUnauthorized: false },
})

beforeAll(async () => {
  folder = await temporaryFolder()
  tier = (await shared('history')).url
  const signals = await startOrigin((incoming, response) =>
    incoming.url === '/gone'
      ? incoming.destroy()
      : response.end(JSON.stringify({ url: incoming.url, ...incoming.headers })),
  )
  ports = { https: await ownPort(), http: await ownPort() }
  await replaceCertificate(1)
  const store = inject('tinyStore').url
  const env = {
    STORE_URL: store,
    HISTORY_PORT: String(addressOf(tier).port),
    SIGNALS_PORT: String(signals.port),
  }
  const args = [
    ...['--certificate', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem')],
    ...['--name', `${DATA}:${ports.https}`, '--signals-name', SIGNALS],
    ...['--listen', `127.0.0.1:${ports.https}`, '--http', `127.0.0.1:${ports.http}`],
  ]
  expect(await run(['nginx', join(folder, 'highwater'), ...args], { env })).toMatchObject({ code: 0 })
  const server = await startLocalServer(join(ROOT, 'deploy/servers/nginx-server.sh'), [
    ...[join(ROOT, '.servers/cdn'), folder, String(ports.https), new URL(store).pathname],
  ])
  atEndOfProcess(server.stop)
})

async function get(path: string, servername: string, more: RequestOptions = {}) {
  const options = { ...secureTo(servername), path, ...more, headers: { host: servername, ...more.headers } }
  const sent = more.protocol === 'http:' ? requestPlain(options) : request(options)
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, text: await text(answer), headers: answer.headers }
}

test('nginx speaks HTTP/2, and no TLS before 1.2', async () => {
  const session = connectHttp2(`https://127.0.0.1:${ports.https}`, secureTo(DATA))
  const stream = session.request({ ':path': '/v1/strategies', ':authority': DATA })
  const status = await new Promise(resolve => stream.once('response', headers => resolve(headers[':status'])))
  session.destroy()
  expect(status).toBe(200)
  await expect(get('/v1/strategies', DATA, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).rejects.toThrow()
})

test('nginx redirects plain HTTP to HTTPS, under the names that it was given alone, except for the answers to an ACME server', async () => {
  const plain = `http://127.0.0.1:${ports.http}`
  for (const [host, name] of [
    ['evil.example.org', DATA],
    [SIGNALS, SIGNALS],
  ]) {
    const moved = await get('/v1/strategies?limit=1', host!, { protocol: 'http:', port: ports.http })
    const location = `https://${name}:${ports.https}/v1/strategies?limit=1`
    expect([moved.status, moved.headers.location]).toEqual([301, location])
  }
  const challenges = join(folder, 'highwater/acme/.well-known/acme-challenge')
  await mkdir(challenges, { recursive: true })
  await writeFile(join(challenges, 'token'), 'token.thumbprint')
  const answer = await fetch(`${plain}/.well-known/acme-challenge/token`)
  expect([answer.status, await answer.text()]).toEqual([200, 'token.thumbprint'])
})

test('the signals service has its own name, and learns the address of the client from nginx alone', async () => {
  const {
    status,
    text: body,
    headers,
  } = await get('/v1/signals?since=1', SIGNALS, {
    headers: { 'x-forwarded-for': '10.9.8.7' },
  })
  expect([status, headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
  const received = { url: '/v1/signals?since=1', host: SIGNALS, 'x-forwarded-for': '127.0.0.1' }
  expect(JSON.parse(body)).toMatchObject(received)
})

test('what nginx refuses itself, as it cannot read a request or reach a service, keeps browsers on HTTPS', async () => {
  const refused = [await get('/v1/strategies', DATA, { method: 'FOO' }), await get('/gone', SIGNALS)]
  for (const { headers } of refused) expect(headers['strict-transport-security']).toBe('max-age=31536000')
  expect(refused.map(({ status }) => status)).toEqual([400, 502])
})

test('nginx serves a certificate that was replaced without a restart', async () => {
  const serial = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(secureTo(DATA))
      socket.once('error', reject).once('secureConnect', () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
    })
  expect(Number(await serial())).toBe(1)
  await replaceCertificate(7)
  await expect.poll(async () => Number(await serial())).toBe(7)
})
