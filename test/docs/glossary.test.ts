// The glossary speaks the language of the interface: what it spells is there, and no value of a closed list is left out.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { historyDocument } from '#api/history/routes.ts'
import { signalsDocument } from '#api/signals/routes.ts'
import { TV_STATUSES, VERIFICATION_STATES } from '#core/contract/payloads/strategy.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/glossary.md'), 'utf8')

type Term = { readonly word: string; readonly meaning: string; readonly spelled: readonly string[] }

const TERMS: Term[] = [...PAGE.matchAll(/^\| (?!Word )([^|]+) \| ([^|]+) \|([^|]*)\|$/gm)].map(
  ([, word = '', meaning = '', names = '']) => ({
    word,
    meaning,
    spelled: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  }),
)

/** Every name of the two documents: keys, and texts that stand alone, as names of parameters and values of lists do. */
function namesIn(node: unknown): string[] {
  if (typeof node === 'string') return [node]
  if (typeof node !== 'object' || node === null) return []
  const keys = Array.isArray(node) ? [] : Object.keys(node)
  return [...keys, ...Object.values(node).flatMap(namesIn)]
}

const NAMES = new Set(
  [await historyDocument('https://data.example.org'), signalsDocument('https://signals.example.org')].flatMap(
    namesIn,
  ),
)

test('every name that the glossary spells is one of the interface', () => {
  const spelled = TERMS.flatMap(term => term.spelled)
  expect(spelled.length).toBeGreaterThan(40)
  expect(spelled.filter(name => !NAMES.has(name))).toEqual([])
})

test('the glossary explains every state of verification', () => {
  const spelled = new Set(TERMS.flatMap(term => term.spelled))
  const states = [...VERIFICATION_STATES, ...TV_STATUSES, 'marked', 'realised', 'reported']
  expect(states.filter(state => !spelled.has(state))).toEqual([])
})

test('the glossary explains no word twice, and none by nothing', () => {
  const words = TERMS.map(({ word }) => word)
  expect(words).toEqual([...new Set(words)])
  expect(TERMS.filter(({ meaning }) => meaning.trim().length < 10)).toEqual([])
})
