// The scripts of the pages: `make pages` builds them into `pages/browser/built/`, where they are committed.
import type { RolldownOptions } from 'rolldown'

/** Each is built on its own, so that a page loads one script. */
export const PAGE_SCRIPTS = ['page', 'book', 'explore', 'check', 'table'] as const

/** One build each, in the order of the names. */
export default PAGE_SCRIPTS.map(name => ({
  input: `pages/browser/${name}.ts`,
  cwd: import.meta.dirname,
  platform: 'browser' as const,
  resolve: { alias: { 'd3-interpolate': `${import.meta.dirname}/pages/browser/interpolate.ts` } },
  output: { file: `pages/browser/built/${name}.js`, format: 'esm' as const, minify: true },
})) satisfies RolldownOptions[]
