// The script of the operator's pages, on a page that is made up.
import { readFile } from 'node:fs/promises'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'

const SCRIPT = new URL('../../../api/operator/page/browser/updates.js', import.meta.url)

type Answer = { readonly ok: boolean; readonly text?: () => Promise<string> } | 'away'

/** A page with some content, and what it shows after each answer. */
async function openPage(content: string) {
  let look: () => unknown = () => {}
  let answer: Answer = 'away'
  const asked: unknown[] = []
  const state = { loads: 0 }
  const main = {
    innerHTML: content,
    querySelector: () => null,
    querySelectorAll: () => [],
    contains: () => false,
    prepend: ({ textContent }: { readonly textContent: string }) => {
      main.innerHTML = textContent + main.innerHTML
    },
  }
  const parsed = (innerHTML: string) => ({ querySelector: () => ({ innerHTML }) })
  runInNewContext(await readFile(SCRIPT, 'utf8'), {
    document: { hidden: false, querySelector: () => main, createElement: () => ({ setAttribute: () => {} }) },
    location: { href: '/ops', reload: () => state.loads++ },
    DOMParser: class {
      parseFromString = parsed
    },
    fetch: async (_: string, init: unknown) => {
      asked.push(init)
      if (answer === 'away') throw new Error('no answer')
      return answer
    },
    setTimeout: (next: () => unknown) => {
      look = next
    },
  })
  const after = async (next: Answer) => {
    answer = next
    await look()
    return main.innerHTML
  }
  return { after, state, asked }
}

const says = (text: string): Answer => ({ ok: true, text: async () => text })

test('a page that follows what happens shows what differs, says once since when it is old, and is loaded again if it is refused', async () => {
  const { after, state, asked } = await openPage('first')
  expect(await after(says('second'))).toBe('second')
  const old = await after('away')
  expect(old).toMatch(/^Not up to date since \d\d:\d\d:\d\d UTC: the service does not answer\.second$/)
  expect(await after('away')).toBe(old)
  expect(await after(says('second'))).toBe('second')
  expect(state.loads).toBe(0)
  await after({ ok: false }) // a redirect to the login, or a refusal
  expect(state.loads).toBe(1)
  expect(asked[0]).toMatchObject({ headers: { 'x-highwater-update': '1' }, redirect: 'manual' })
})
