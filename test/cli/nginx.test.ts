// `highwater nginx`: what it refuses, and that what it writes follows the settings, as do the committed files of a site.
import { existsSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { corsHeaders } from '#api/service/headers.ts'
import {
  copyFor,
  EXAMPLE_SITE,
  type Site,
  textFor,
  varnishValues,
  writeNginx,
} from '#cli/services/edge/site.ts'
import { DEFAULT_DISCLAIMER, register } from '#core/contract/register.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { temporaryFolder, writeFiles } from '../support/temporary-folder.ts'
import { run } from './made-up.ts'

test('highwater nginx writes the settings of the services into the configuration', async () => {
  const folder = await temporaryFolder()
  const env = {
    STORE_URL: `file://${folder}/store`,
    HISTORY_PORT: '9001',
    ALLOWED_ORIGINS: 'https://app.example.org',
    TRUSTED_PROXIES: '10.0.0.0/8',
    SUNSET_AT: '2027-01-01T00:00:00Z',
  }
  const { code, out } = await run(['nginx', 'conf', '--json'], { cwd: folder, env })
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { folder: join(folder, 'conf'), listen: '127.0.0.1:8090', store: join(folder, 'store') },
  ])
  const text = (name: string) => readFile(join(folder, 'conf', name), 'utf8')
  expect(await text('listen.conf')).toContain(`root '${folder}/store';`)
  expect(await text('site.conf')).toMatch(/server 127\.0\.0\.1:9001 [\s\S]*https:\/\/app\\\.example\\\.org/)
  expect(await text('proxies.conf')).toContain('set_real_ip_from 10.0.0.0/8;')
  expect(await text('deprecation.conf')).toContain('Sunset')
  expect(await text('tls.conf')).toBe('')
})

test('nginx reaches services that listen on every address on this machine', async () => {
  const folder = await temporaryFolder()
  for (const [HOST, upstream] of [
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['10.0.0.7', '10.0.0.7'],
  ] as const) {
    const env = { STORE_URL: `file://${folder}/store`, HOST }
    expect(await run(['nginx', 'conf'], { cwd: folder, env })).toMatchObject({ code: 0 })
    expect(await readFile(join(folder, 'conf/site.conf'), 'utf8')).toContain(`server ${upstream}:8080 `)
  }
})

test.each(casesOf<[string, string[], Record<string, string>, string]>`
a bucket -> ${[]} -> ${{ STORE_URL: 's3://bucket/highwater' }} -> nginx serves a folder, and STORE_URL is s3://bucket
half of a pair -> ${['--certificate', 'cert.pem']} -> ${{}} -> --certificate and --key belong together
a file that is not there -> ${['--certificate', 'no.pem', '--key', 'key.pem']} -> ${{}} -> ${'there is no '}
keys in the clear -> ${['--signals-name', 'signals.example.org']} -> ${{}} -> needs --certificate and --key
an address without a port -> ${['--listen', '127.0.0.1']} -> ${{}} -> --listen: expected an address and a port such as
a certificate without a name -> ${['--certificate', 'cert.pem', '--key', 'key.pem']} -> ${{}} -> --name, or PUBLIC_BASE_URL: expected a host name such as
another such name -> ${['--certificate', 'cert.pem', '--key', 'key.pem', '--name', '$host']} -> ${{}} -> ${"--name, or PUBLIC_BASE_URL: expected a host name such as signals.example.org, got '$host'"}
a name that nginx would read as more -> ${['--certificate', 'cert.pem', '--key', 'key.pem', '--signals-name', 'a; b']} -> ${{}} -> --signals-name: expected a host name such as signals.example.org, got 'a; b'`)(
  'highwater nginx refuses %s with the fix',
  async (_, args, env, message) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, { 'cert.pem': '', 'key.pem': '' })
    const { code, err } = await run(['nginx', 'conf', ...args], { cwd: folder, env })
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  },
)

const ROOT = join(import.meta.dirname, '../..')
const committed = (path: string) => readFile(join(ROOT, 'deploy', path), 'utf8')
const FILES = [
  'nginx/listen.conf',
  'nginx/site.conf',
  'nginx/deprecation.conf',
  'nginx/proxies.conf',
  'varnish/site.vcl',
]

const OTHER_SITE: Site = {
  store: '/srv/store',
  tier: { host: '10.0.0.2', port: 9001 },
  nginx: { host: '10.0.0.3', port: 9002 },
  tls: null,
  allowedOrigins: ['https://a.example.com'],
  trustedProxies: ['10.0.0.0/8'],
  deprecatedAtMs: 0,
  sunsetAtMs: 0,
}

/** The text of a committed file in which the values of the other site stand, each spelled as that file does. */
const ofOtherSite = (text: string): string =>
  text
    .replaceAll('/var/lib/highwater/store', '/srv/store')
    .replaceAll('127.0.0.1:8080', '10.0.0.2:9001')
    .replaceAll('listen 127.0.0.1:8090;', 'listen 10.0.0.3:9002;')
    .replaceAll('.host = "127.0.0.1";', '.host = "10.0.0.3";')
    .replaceAll('.port = "8090";', '.port = "9002";')
    .replaceAll(/\^\(\?:https[^)]*\)\$/g, String.raw`^(?:https://a\.example\.com)$$`)
    .replaceAll(/(set_real_ip_from [^;]*;\s?)+/g, 'set_real_ip_from 10.0.0.0/8;\n')

test('a folder of nginx in which a value of the example was edited is refused with that value, and nothing is written', async () => {
  const folder = await temporaryFolder()
  await cp(join(ROOT, 'deploy/nginx'), join(folder, 'deploy/nginx'), { recursive: true })
  await writeFile(join(folder, 'deploy/nginx/listen.conf'), 'listen 127.0.0.1:8099;\n')
  await expect(writeNginx(folder, join(folder, 'made'), OTHER_SITE)).rejects.toThrow(
    /nginx was edited: none of listen.conf, site.conf, proxies.conf has 'listen 127.0.0.1:8090;'; restore it/,
  )
  expect(existsSync(join(folder, 'made'))).toBe(false)
})

test('the files of a site have its values wherever the committed ones have those of the example, and its origins literally', async () => {
  const folder = await temporaryFolder()
  for (const [site, name] of [
    [EXAMPLE_SITE, 'example'],
    [OTHER_SITE, 'other'],
  ] as const) {
    await writeNginx(ROOT, join(folder, name, 'nginx'), site)
    await copyFor(
      site,
      join(ROOT, 'deploy/varnish'),
      join(folder, name, 'varnish'),
      ['site.vcl'],
      varnishValues,
    )
  }
  const added = "add_header deprecation '@0';\nadd_header sunset 'Thu, 01 Jan 1970 00:00:00 GMT';\n"
  for (const path of FILES) {
    const text = await committed(path)
    const other = ofOtherSite(text) + (path.endsWith('deprecation.conf') ? added : '')
    expect([path, other !== text]).toEqual([path, true])
    expect(await readFile(join(folder, 'example', path), 'utf8')).toBe(text)
    expect(await readFile(join(folder, 'other', path), 'utf8')).toBe(other)
  }
})

const REFUSALS = {
  unavailable: 'the service cannot be reached at the moment; ask again in a few seconds',
  overloaded: 'too many requests of this client are being answered already; ask again in a moment',
  bad_request: 'the request is not well-formed HTTP, or its address, headers or body are too long',
}

test('what nginx and Varnish answer themselves is as the service answers it', async () => {
  const [conf, vcl] = await Promise.all([committed('nginx/site.conf'), committed('varnish/site.vcl')])
  const meta = register({ version: null, disclaimer: DEFAULT_DISCLAIMER }, null, null)
  for (const [code, message] of Object.entries(REFUSALS)) {
    const body = JSON.stringify({ error: { code, message, details: null }, meta })
    expect(conf).toContain(`map "" $${code} { default '${body}'; }\n`)
    if (code === 'unavailable') expect(vcl).toContain(`  synthetic("""${body}""");\n`)
  }
  const origin = 'https://a.example.org'
  const exposed = corsHeaders(new Set([origin]), origin)['access-control-expose-headers']
  expect(conf).toContain(`map $cors_origin $cors_exposed {\n  default '${exposed}';\n`)
  expect(vcl).toContain(`    set resp.http.Access-Control-Expose-Headers = "${exposed}";\n`)
  expect(conf).toContain(`"~^(?:${METHODS.join('|')})$" yes;`)
})

test('a site with a text that nginx would read as a variable is refused with a sentence', () => {
  expect(() => textFor({ ...EXAMPLE_SITE, store: '/srv/$5' }, '')).toThrow(
    'nginx cannot be configured with a text that has a dollar sign or a line break: /srv/$5',
  )
})
