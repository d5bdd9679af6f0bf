// Pages that follow what happens: a browser that asks for the address of a page as a stream of events gets its content
// again whenever that has changed.
import { streamSSE } from 'hono/streaming'
import type { Exchange } from '../exchange.ts'

const UPDATE_MS = 3_000

/** A stream without an event for this long gets an empty one, so that no proxy takes it for dead. */
const QUIET_MS = 20_000

/** Streams at a time: a page that gets none loads itself again now and then. */
const MOST_STREAMS = 32

export const wantsUpdates = (c: Exchange): boolean => c.req.header('accept') === 'text/event-stream'

/** Sends what `render` returns, whenever it differs from what was sent. `render` resolves with null when the session is over. */
export function createUpdates(pause: (ms: number) => Promise<unknown>, ended: AbortSignal) {
  let streams = 0
  return (c: Exchange, render: () => Promise<string | null>): Response => {
    if (streams >= MOST_STREAMS || ended.aborted) return new Response(null, { status: 204 })
    streams++
    return streamSSE(c, async stream => {
      const isOver = () => stream.aborted || stream.closed || ended.aborted
      let sent = ''
      let quietMs = 0
      try {
        while (!isOver()) {
          const content = await render()
          if (content === null) return
          quietMs += UPDATE_MS
          if (content !== sent) await stream.writeSSE({ event: 'content', data: content })
          else if (quietMs >= QUIET_MS) await stream.writeSSE({ event: 'quiet', data: '' })
          if (content !== sent || quietMs >= QUIET_MS) quietMs = 0
          sent = content
          await pause(UPDATE_MS)
        }
      } finally {
        streams--
      }
    })
  }
}

/** Nothing is replaced while somebody types, or is about to click. Without a stream the page is loaded again. */
export const SCRIPT = `
const RELOAD_MS = 15000
const main = document.querySelector('main')
const isEdited = field => field.value !== field.defaultValue || field.checked !== field.defaultChecked
const isChosen = ({ options, selectedIndex }) =>
  selectedIndex !== Math.max(0, [...options].findIndex(option => option.defaultSelected))
const isInUse = () =>
  main.querySelector('details[open]') !== null ||
  (main.contains(document.activeElement) && document.activeElement.matches('input, select, button, summary, a')) ||
  [...main.querySelectorAll('input')].some(isEdited) ||
  [...main.querySelectorAll('select')].some(isChosen)
const reloadLater = () => setTimeout(() => (isInUse() ? reloadLater() : location.reload()), RELOAD_MS)
const source = new EventSource(location.href)
source.addEventListener('content', event => {
  if (!isInUse()) main.innerHTML = event.data
})
source.addEventListener('error', () => {
  if (source.readyState === EventSource.CLOSED) reloadLater()
})
`
