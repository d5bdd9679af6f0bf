import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  EXAMPLE_SITE,
  renderDeprecationConf,
  renderListenConf,
  renderProxiesConf,
  renderSiteConf,
  renderSiteVcl,
} from '#cli/edge/site.ts'

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
