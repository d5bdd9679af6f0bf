import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { expect, test } from 'vitest'
import { workerCode } from '#pipeline/modules/worker-code.ts'

const ROOT = new URL('../../../', import.meta.url)

test('the code of module processes is that of the sources as they are, without types, and with all that it imports', () => {
  const code = workerCode()
  const names = Object.keys(code).map(url => url.slice(ROOT.href.length))
  expect(names).toEqual(
    expect.arrayContaining(['pipeline/modules/worker.ts', 'core/replay/step.ts', 'core/calendar.ts']),
  )
  for (const [url, text] of Object.entries(code)) {
    expect(text, url).toBe(stripTypeScriptTypes(readFileSync(new URL(url), 'utf8')))
    for (const [, name] of text.matchAll(/\bfrom '(?:#|\.\/)([^']+\.ts)'/g)) {
      expect(names, url).toContainEqual(expect.stringMatching(new RegExp(`(?:^|/)${name}$`)))
    }
  }
})
