import { html } from 'hono/html'
import { type Guide, snippets } from './guide.ts'

export const publishing: Guide = {
  name: 'publishing',
  title: 'Publish a book of your own',
  about: 'From an empty folder to a service that answers from your strategies.',
  body: () => html`<p class="lead">A book is a folder with a catalogue, market data and a source for each strategy. Highwater builds a signed version of it every night and
serves it. In a checkout of Highwater, with Node 18 or newer and after <code>npm ci</code>:</p>
<h2>1. Make a book</h2>
<p><code>init</code> writes a commented book with synthetic bars that builds as it is; its <code>README.md</code> documents every file.</p>
${snippets('init', {
  sh: `npx highwater init ./book
npx highwater check --book ./book`,
})}
<h2>2. Write a strategy</h2>
<p>A module gets one closed bar at a time, and its decision is executed at the open of the next bar. The size follows from the stop. A strategy may also be a ledger of
trades or a list of reported returns: <code>catalogue.yaml</code> shows both.</p>
${snippets('module', { module: MODULE })}
<p>A build proves that the module does not look ahead. Raise <code>version</code> whenever the rules change: the published history of the old ones stays as it is.</p>
<h2>3. Build and serve</h2>
<p>A build that finds mistakes names all of them, with file and line, and publishes nothing.</p>
${snippets('build', {
  sh: `npx highwater build --book ./book --store "file://$PWD/store"
HISTORY_PORT=8090 STORE_URL="file://$PWD/store" npx highwater serve history > history.log 2>&1 &`,
})}
<p>Open <code>http://127.0.0.1:8090/</code> for the pages of your book, or read a figure:</p>
${snippets(
  'read',
  {
    sh: `curl -fs --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8090/v1/strategies/oak |
  jq -r .data.verification_state`,
  },
  'dual_verified',
)}
<h2>4. Publish every night</h2>
<p><code>npx highwater nightly --book ./book</code> imports new data, builds, verifies and reports; a build that would change published history stops and names each value. A
running service follows its store within five seconds. <code>docs/operating.md</code> puts it on a server, behind nginx or a CDN, with a key that signs each version.</p>`,
}

const MODULE = `import type { Strategy } from './highwater/strategy.ts'

/** Long while the close is above the mean of the last 50, with a stop 5 % below. */
export const strategy: Strategy<{ closes: number[] }> = {
  id: 'oak',
  version: '2',
  timeframeMs: 14_400_000, // bars of 4 hours, as in the catalogue
  warmupBars: 50,
  baseRisk: 0.02,
  init: () => ({ closes: [] }),
  onBar(state, bar, position) {
    state.closes = [...state.closes.slice(-49), bar.c]
    const mean = state.closes.reduce((sum, close) => sum + close, 0) / state.closes.length
    if (position !== null) return bar.c < mean ? { act: 'flat', why: 'signal' } : null
    return bar.c > mean ? { act: 'long', stop: bar.c * 0.95 } : null
  },
}`
