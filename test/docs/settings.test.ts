// docs/settings.md lists every environment variable that the program reads, once, and no other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseEnvironment, VARIABLE_NAMES } from '#cli/environment.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8')

/** Each row: its variables, and the values of the second column. */
const ROWS = [...PAGE.matchAll(/^\| (`[A-Z][^|]*) \| ([^|]+) \|/gm)].map(([, names = '', defaults = '']) => ({
  names: [...names.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name),
  defaults: [...defaults.matchAll(/`([^`]+)`/g)].map(([, value = '']) => value),
}))

test('the page of settings lists the variables of the program, each once', () => {
  expect(ROWS.flatMap(({ names }) => names).toSorted()).toEqual(VARIABLE_NAMES.toSorted())
})

test('a default that the page of settings shows for a variable is the one that holds if it is unset', () => {
  const shown = ROWS.filter(({ names, defaults }) => names.length === defaults.length)
  const unset = parseEnvironment({}, '/data')
  for (const { names, defaults } of shown)
    for (const [index, name] of names.entries()) {
      if (defaults[index]!.includes('/') || /[A-Z]/.test(defaults[index]!)) continue // a place, not a value
      expect([name, parseEnvironment({ [name]: defaults[index]! }, '/data')]).toEqual([name, unset])
    }
  expect(shown.length).toBeGreaterThan(5)
})
