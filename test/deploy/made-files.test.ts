import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isPinnable } from '#core/contract/pins.ts'
import { ROUTES } from '#core/contract/routes.ts'
import { madeFiles } from '../../deploy/files.ts'
import { EXAMPLE_SITE, renderSiteConf, renderSiteVcl } from '../../deploy/site.ts'

const DATA_ROUTES = ROUTES.filter(isPinnable)

const DEPLOY = join(import.meta.dirname, '../../deploy')

test.each(madeFiles())(
  '$path is what the contract makes of it (else run `make deploy`)',
  async ({ path, text }) => {
    expect(await readFile(join(DEPLOY, path), 'utf8')).toBe(text)
  },
)

describe('the key of the CDN', () => {
  const vcl = madeFiles().find(({ path }) => path === 'varnish/canonical.vcl')?.text ?? ''

  test.each(ROUTES.flatMap(({ query }) => query))('knows the parameter %s', name => {
    expect(vcl).toContain(`sub take_${name} {`)
  })

  test.each(DATA_ROUTES)('knows the route $path', ({ path }) => {
    const [, last = '/'] = /(?:^\/v1\/([a-z]+)|\{sid\}(\/[a-z]+))$/.exec(path)?.filter(part => part) ?? []
    expect(vcl).toContain(`(req.http.hw-route == "${last}") {`)
  })
})

describe('a site', () => {
  test('names its origins literally: a dot in an origin matches a dot', () => {
    const vcl = renderSiteVcl({ ...EXAMPLE_SITE, allowedOrigins: ['https://a.example.org'] })
    expect(vcl).toContain(String.raw`"^(?:https://a\.example\.org)$"`)
  })

  test('with a disclaimer that nginx would read as a variable is refused with a sentence', () => {
    expect(() => renderSiteConf({ ...EXAMPLE_SITE, disclaimer: 'worth $5' })).toThrow(
      'nginx cannot be told a text with a dollar or a line break: worth $5',
    )
  })
})
