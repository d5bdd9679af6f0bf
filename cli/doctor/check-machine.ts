import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { toReachable } from '#api/service/http-server.ts'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { codeOf, ifThere, messageOf } from '#storage/error-code.ts'
import { createSigner } from '#storage/signature.ts'
import project from '../../package.json' with { type: 'json' }
import { probe } from '../services/free-port.ts'
import { DEFAULT_ADMIN_PORT, type Environment } from '../settings/environment.ts'
import { isLoopback, readSealKey, readSecretFile, SECRET_FILES } from '../settings/generated-secrets.ts'
import { check, ok, problem, skipped, warning } from './check.ts'

export const software = check('software', [], async () =>
  ok(`highwater ${project.version}, Node ${process.versions.node}, ${process.platform} ${process.arch}`),
)

export const secrets = check('secrets', [], async ({ runtime, environment }) => {
  const { HOST, DATA_FOLDER, SEAL_KEY_FILE } = environment
  const unset = Object.entries(SECRET_FILES).filter(([name]) => !runtime.env[name])
  if (SEAL_KEY_FILE !== null) createSigner(await readSealKey(environment)) // throws if the service would
  if (unset.length === 0) return ok(`${Object.keys(SECRET_FILES).join(', ')} are set`)
  if (!isLoopback(HOST)) {
    const names = unset.map(([name]) => name).join(' and ')
    return warning(
      `HOST ${HOST} is reachable from other machines, and ${names} ${unset.length === 1 ? 'is' : 'are'} not set: the signals service does not start`,
      `set ${names}, if this machine serves signals`,
    )
  }
  const paths: string[] = []
  for (const path of unset.map(([, file]) => join(DATA_FOLDER, file))) {
    if ((await ifThere(stat(path), null)) === null) continue
    await readSecretFile(path) // throws if others can read it
    paths.push(path)
  }
  return paths.length === unset.length
    ? ok(`${paths.join(' and ')}, which only their owner can read`)
    : skipped('not all are there yet: the next `serve signals` generates the others')
})

const PORTS = [
  ['history', 'HISTORY_PORT', 'HOST'],
  ['metrics of history', 'ADMIN_PORT', 'ADMIN_HOST'],
  ['signals', 'SIGNALS_PORT', 'HOST'],
  ['operator interface', 'OPERATOR_PORT', 'HOST'],
] as const

const portsOf = (environment: Environment) =>
  PORTS.map(([service, variable, hostVariable]) => {
    const port = environment[variable] ?? DEFAULT_ADMIN_PORT
    return { service, variable, port, hostVariable, host: environment[hostVariable] }
  })

type Port = ReturnType<typeof portsOf>[number]

export const ports = check('ports', [], async ({ environment }) => {
  const uses = await Promise.all(
    portsOf(environment).map(async each => ({ ...each, use: await useOf(each) })),
  )
  const taken = uses.filter(({ use }) => use === 'taken')
  if (taken.length === 0)
    return ok(uses.map(({ service, port, use }) => `${service} ${port} ${use}`).join(', '))
  const names = taken.map(({ port, service }) => `${port} (${service})`).join(', ')
  const variables = taken.map(({ variable }) => variable).join(', ')
  return problem(`another program has port ${names}`, `end it, or set ${variables} to a free port`)
})

async function useOf(port: Port): Promise<'free' | 'answers' | 'taken'> {
  if (port.port === 0 || (await isFree(port))) return 'free'
  return (await isOurs(port)) ? 'answers' : 'taken'
}

/** Listens for a moment. Rejects with the fix if this user, or this machine, cannot listen there. */
async function isFree({ host, port, variable, hostVariable }: Port): Promise<boolean> {
  try {
    await probe(port, host)
    return true
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return false
    const isPort = codeOf(error) === 'EACCES'
    const fix = isPort
      ? `${variable} to a port from 1024 on`
      : `${hostVariable} to an address of this machine`
    throw new Error(`cannot listen on ${host}:${port} (${messageOf(error)}): set ${fix}`)
  }
}

const ANSWER_MS = 3_000

/** Every service of ours says that it is ok. */
async function isOurs({ host, port }: Port): Promise<boolean> {
  const url = toReachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}/healthz`)
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) })
    return answer.status === 200 && (await answer.text()).includes('"ok"')
  } catch {
    return false
  }
}

/** Certificates with fewer days left are renewed too late. */
const LEAST_DAYS = 14

export const certificates = check('certificates', ['clock'], async ({ environment, runtime: { now } }) => {
  const { PUBLIC_BASE_URL, HISTORY_BASE_URL, SIGNALS_BASE_URL, OPERATOR_URL } = environment
  const addresses = new Set([PUBLIC_BASE_URL, HISTORY_BASE_URL, SIGNALS_BASE_URL, OPERATOR_URL])
  const secure = [...addresses].filter(each => each !== null).filter(each => each.startsWith('https:'))
  if (secure.length === 0) return skipped('no address of this installation begins with https:')
  const seen = await Promise.all(secure.map(seeCertificate))
  const refused = seen.find(({ refusal }) => refusal !== null)
  if (refused !== undefined)
    return problem(
      `clients refuse the certificate of ${refused.host}: ${refused.refusal}`,
      'install a certificate for this name from an authority that clients know, and reload the web server',
    )
  const says = seen
    .map(each => `${each.host} until ${toIsoDate(Math.floor(each.endsMs / DAY_MS))}`)
    .join(', ')
  return seen.some(({ endsMs }) => endsMs - now() < LEAST_DAYS * DAY_MS)
    ? warning(`${says}: less than ${LEAST_DAYS} days are left`, 'renew it, and see why it was not renewed')
    : ok(says)
})

/** The end of a certificate, and why clients refuse it; null if they do not. */
async function seeCertificate(url: string) {
  const { host, hostname, port } = new URL(url)
  const name = isIP(hostname) === 0 ? { servername: hostname } : {}
  const socket = connect({ host: hostname, port: Number(port || 443), ...name, rejectUnauthorized: false })
  socket.on('error', () => {}) // also after the answer
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error(`no answer in ${ANSWER_MS / 1_000} s`)))
  await once(socket, 'secureConnect').catch((error: unknown) => {
    // Plain HTTP was answered: OpenSSL's own words are about records.
    const why = codeOf(error) === 'ERR_SSL_WRONG_VERSION_NUMBER' ? 'no TLS there' : messageOf(error)
    throw new Error(`${url} cannot be reached (${why}): start the web server, or correct the address`)
  })
  const { valid_to } = socket.getPeerCertificate()
  const refusal = socket.authorized ? null : String(socket.authorizationError)
  socket.end()
  return { host, endsMs: Date.parse(valid_to), refusal }
}
