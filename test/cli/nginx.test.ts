// `highwater nginx`: what it refuses, and that what it writes follows the settings, as do the committed files of a site.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  EXAMPLE_SITE,
  renderDeprecationConf,
  renderListenConf,
  renderProxiesConf,
  renderSiteConf,
  renderSiteVcl,
} from '#cli/services/edge/site.ts'
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

const DEPLOY = join(import.meta.dirname, '../../deploy')

test.each([
  ['nginx/listen.conf', renderListenConf(EXAMPLE_SITE)],
  ['nginx/site.conf', renderSiteConf(EXAMPLE_SITE)],
  ['nginx/deprecation.conf', renderDeprecationConf(EXAMPLE_SITE)],
  ['nginx/proxies.conf', renderProxiesConf(EXAMPLE_SITE)],
  ['varnish/site.vcl', renderSiteVcl(EXAMPLE_SITE)],
])(
  'the committed file %s is what its site renders (to write it again: vitest run --update)',
  async (path, text) => {
    await expect(text).toMatchFileSnapshot(join(DEPLOY, path))
  },
)

test('the VCL of a site names its origins literally: a dot in an origin matches a dot', () => {
  const vcl = renderSiteVcl({ ...EXAMPLE_SITE, allowedOrigins: ['https://a.example.org'] })
  expect(vcl).toContain(String.raw`"^(?:https://a\.example\.org)$"`)
})

test('a site with a text that nginx would read as a variable is refused with a sentence', () => {
  expect(() => renderListenConf({ ...EXAMPLE_SITE, store: '/srv/$5' })).toThrow(
    'nginx cannot be configured with a text that has a dollar sign or a line break: /srv/$5',
  )
})
