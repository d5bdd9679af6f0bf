// The software, its secrets, the ports and the certificates of a machine.
import { stat } from 'node:fs/promises'
import { createServer, isIP } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { toReachable } from '#api/http/http-server.ts'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { codeOf, ifThere, messageOf } from '#storage/error-code.ts'
import project from '../../package.json' with { type: 'json' }
import { DEFAULT_ADMIN_PORT } from '../settings/environment.ts'
import { isLoopback, OPERATOR_TOKEN_FILE, readSecretFile, SECRET_KEY_FILE } from '../settings/generated-secrets.ts'
import { type Check, type Installation, ok, problem, skipped, warning } from './check.ts'

export const software: Check = {
  check: 'software',
  look: async () =>
    ok(`highwater ${project.version}, Node ${process.versions.node}, ${process.platform} ${process.arch}`),
}

const SECRETS = [
  { variable: 'OPERATOR_TOKEN', file: OPERATOR_TOKEN_FILE },
  { variable: 'SECRET_KEY', file: SECRET_KEY_FILE },
] as const

/** Secrets that are set, or generated and read by their owner alone. */
export const secrets: Check = {
  check: 'secrets',
  look: async ({ runtime: { env }, environment: { host, dataFolder } }) => {
    const unset = SECRETS.filter(({ variable }) => !env[variable])
    if (!isLoopback(host) && unset.length > 0) {
      const names = unset.map(({ variable }) => variable).join(' and ')
      return warning(
        `HOST ${host} is reachable from other machines, and ${names} ${unset.length === 1 ? 'is' : 'are'} not set: the signals service does not start`,
        `set ${names}, if this machine serves signals`,
      )
    }
    const generated = unset.map(({ file }) => join(dataFolder, file))
    const there = await Promise.all(generated.map(async path => (await ifThere(stat(path), null)) !== null))
    const paths = generated.filter((_, i) => there[i])
    for (const path of paths) await readSecretFile(path) // throws if others can read it
    if (unset.length === 0) return ok('OPERATOR_TOKEN and SECRET_KEY are set')
    return paths.length === unset.length
      ? ok(`${paths.join(' and ')}, which only their owner can read`)
      : skipped('none yet: the first `serve signals` generates them')
  },
}

/** Each service, its port, and the variable that changes it. */
const portsOf = ({ environment }: Installation) => {
  const { host, historyPort, operations, signals } = environment
  const ours = { host, hostVariable: 'HOST' }
  return [
    { ...ours, service: 'history', variable: 'HISTORY_PORT', port: historyPort },
    {
      service: 'metrics of history',
      variable: 'ADMIN_PORT',
      host: operations.adminHost,
      hostVariable: 'ADMIN_HOST',
      port: operations.adminPort ?? DEFAULT_ADMIN_PORT,
    },
    { ...ours, service: 'signals', variable: 'SIGNALS_PORT', port: signals.port },
    { ...ours, service: 'operator interface', variable: 'OPERATOR_PORT', port: signals.operatorPort },
  ]
}

type Port = ReturnType<typeof portsOf>[number]

/** Ports that are free, or on which our own services answer. */
export const ports: Check = {
  check: 'ports',
  look: async installation => {
    const uses = await Promise.all(
      portsOf(installation).map(async each => ({ ...each, use: await useOf(each) })),
    )
    const taken = uses.filter(({ use }) => use === 'taken')
    if (taken.length > 0) {
      const names = taken.map(({ port, service }) => `${port} (${service})`).join(', ')
      const variables = taken.map(({ variable }) => variable).join(', ')
      return problem(`another program has port ${names}`, `end it, or set ${variables} to a free port`)
    }
    return ok(uses.map(({ service, port, use }) => `${service} ${port} ${use}`).join(', '))
  },
}

type Use = 'free' | 'answers' | 'taken'

async function useOf(port: Port): Promise<Use> {
  if (port.port === 0 || (await isFree(port))) return 'free'
  return (await isOurs(port.host, port.port)) ? 'answers' : 'taken'
}

/** Listens for a moment. Rejects with the fix if this user, or this machine, cannot listen there. */
const isFree = ({ host, port, variable, hostVariable }: Port): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', error => {
      if (codeOf(error) === 'EADDRINUSE') return resolve(false)
      const fix =
        codeOf(error) === 'EACCES'
          ? `set ${variable} to a port from 1024 on`
          : `set ${hostVariable} to an address of this machine`
      reject(new Error(`cannot listen on ${host}:${port} (${messageOf(error)}): ${fix}`))
    })
    server.listen(port, host, () => server.close(() => resolve(true)))
  })

const ANSWER_MS = 3_000

/** Every service of ours names each request. */
async function isOurs(host: string, port: number): Promise<boolean> {
  const url = toReachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}/healthz`)
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    () => null,
  )
  const body = await answer?.text().catch(() => '')
  return answer?.status === 200 && (body ?? '').includes('"ok"')
}

/** Certificates with fewer days left are renewed too late. */
const LEAST_DAYS = 14

const ADDRESSES = ['publicBaseUrl', 'historyBaseUrl', 'signalsBaseUrl'] as const

/** The certificates of the public addresses, as a client sees them. */
export const certificates: Check = {
  check: 'certificates',
  look: async ({ environment, runtime: { now } }) => {
    const addresses = [...ADDRESSES.map(name => environment[name]), environment.signals.operatorUrl]
    const secure = [...new Set(addresses.filter(each => each?.startsWith('https:')))] as string[] // no nulls
    if (secure.length === 0) return skipped('no address of this installation begins with https:')
    const seen = await Promise.all(
      secure.map(async url => ({ host: new URL(url).host, ...(await seeCertificate(url)) })),
    )
    const refused = seen.find(({ refusal }) => refusal !== null)
    if (refused !== undefined) {
      return problem(
        `clients refuse the certificate of ${refused.host}: ${refused.refusal}`,
        'install a certificate for this name from an authority that clients know, and reload the web server',
      )
    }
    const days = ({ endsMs }: { readonly endsMs: number }) => Math.floor((endsMs - now()) / DAY_MS)
    const says = seen
      .map(each => `${each.host} until ${toIsoDate(Math.floor(each.endsMs / DAY_MS))}`)
      .join(', ')
    const soon = seen.some(each => days(each) < LEAST_DAYS)
    return soon
      ? warning(`${says}: less than ${LEAST_DAYS} days are left`, 'renew it, and see why it was not renewed')
      : ok(says)
  },
}

/** The end of a certificate, and why clients refuse it; null if they do not. */
const seeCertificate = (url: string): Promise<{ readonly endsMs: number; readonly refusal: string | null }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(
      {
        host: hostname,
        port: Number(port || 443),
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
        rejectUnauthorized: false,
      },
      () => {
        const { valid_to } = socket.getPeerCertificate()
        const { authorizationError: refusal } = socket
        socket.end()
        resolve({ endsMs: Date.parse(valid_to), refusal: socket.authorized ? null : String(refusal) })
      },
    )
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error(`no answer in ${ANSWER_MS / 1_000} s`)))
    socket.once('error', error =>
      reject(
        new Error(
          `${url} cannot be reached (${isPlain(error) ? 'no TLS there' : error.message}): start the web server, or correct the address`,
        ),
      ),
    )
  })

/** Whether plain HTTP was answered: OpenSSL's own words are about records. */
const isPlain = (error: Error): boolean => codeOf(error) === 'ERR_SSL_WRONG_VERSION_NUMBER'
