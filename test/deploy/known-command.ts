import { expect } from 'vitest'
import { run } from '../cli/made-up.ts'

/** Expects a command line to be one that the program knows, with its options, without running it. */
export async function expectCommand(words: readonly string[]): Promise<void> {
  const firstOption = words.findIndex(
    word => word.startsWith('-') || word.includes('/') || word.includes('"'),
  )
  const names = firstOption < 0 ? words : words.slice(0, firstOption)
  const { code, out } = await run([...names.filter(name => /^[a-z-]+$/.test(name)), '--help'])
  expect([words.join(' '), code]).toEqual([words.join(' '), 0])
  expect(out).not.toMatch(/^Commands:/m) // a group of commands does nothing
  for (const option of words.filter(word => word.startsWith('--'))) expect(out).toContain(`${option} `)
}
