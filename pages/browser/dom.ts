// How the scripts find and change what stands in a page.
import { toCompactInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'

declare global {
  interface Window {
    readonly trustedTypes?: { createPolicy<Rules>(name: string, rules: Rules): Rules }
  }
}

/** The one policy of the pages: it gets nothing but the text of sections, which escape every name. */
const charts = window.trustedTypes?.createPolicy('charts', { createHTML: (text: string) => text })

/** The only element of a selector. Throws if the page has none: then script and page are not of one version. */
export function one<E extends Element = HTMLElement>(selector: string): E {
  const found = document.querySelector<E>(selector)
  if (found === null) throw new Error(`this page has no ${selector}; load it again`)
  return found
}

export const pageFacts = <Facts>(): Facts => JSON.parse(one('#facts').textContent) as Facts // of the same version

/** Shows a sentence, or nothing, in an element that is announced. */
export function say(selector: string, sentence: string): void {
  const place = one(selector)
  place.hidden = sentence === ''
  place.textContent = sentence
}

/** What went wrong, for the reader: the reason that the API gives, or what the error says. */
export function sentenceOf(error: unknown): string {
  const [problem] = error instanceof ApiError && Array.isArray(error.details) ? error.details : []
  return problem?.reason ?? (error instanceof Error ? error.message : String(error))
}

/** Starts what all pages have: a citation with a whole address and, if a service answers, links to it and to a newer version. */
export function startPage(): void {
  const address = document.querySelector('#address')
  // The build does not know the address of a service whose operator does not state it.
  if (address?.textContent.startsWith('/')) address.textContent = location.origin + address.textContent
  askService().catch(() => {}) // a copy of the files has no service
}

async function askService(): Promise<void> {
  const { version = '', root = '' } = document.body.dataset
  const service = `${root}../../..`
  const response = await fetch(`${service}/version`)
  const { data } = (await response.json()) as { data: { dataset_version: string } } // as the service documents it
  if (!response.ok) return
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-service]'))
    link.href = service + link.dataset.service
  if (data.dataset_version <= version) return
  const link = document.createElement('a')
  const [own, newer] = [version, data.dataset_version].map(toCompactInstant)
  link.href = location.href.replace(own!, newer!)
  link.textContent = `Open version ${data.dataset_version}`
  say('#newer', 'A newer version of this page is published. ')
  one('#newer').append(link)
}

/**
 * Draws models into the sections of the page: those in view at once, the others when the browser has time. The page is
 * busy while a model is expected, until all of it shows the model.
 */
export function createView<Model>(
  sections: Readonly<Record<string, (model: Model) => string>>,
  onDrawn: (place: HTMLElement) => void,
): { expect(isExpected: boolean): void; show(model: Model): void } {
  const drawn = new Map<HTMLElement, string>()
  const visible = new Set<Element>()
  const stale = new Set<HTMLElement>()
  let draw = (_place: HTMLElement): void => {}
  let isExpected = false
  const showBusy = (): void => {
    one('main').ariaBusy = String(isExpected || stale.size > 0)
  }
  const drawAll = (places: Iterable<HTMLElement>): void => {
    for (const place of places) if (stale.delete(place)) draw(place)
    showBusy()
  }
  const places = [...document.querySelectorAll<HTMLElement>('[data-section]')]
  const observer = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries) visible[isIntersecting ? 'add' : 'delete'](target)
    drawAll(places.filter(place => visible.has(place)))
  })
  for (const place of places) observer.observe(place)
  addEventListener('beforeprint', () => drawAll(places))
  return {
    expect(isNow) {
      isExpected = isNow
      showBusy()
    },
    show(model) {
      isExpected = false
      draw = place => {
        const text = sections[place.dataset.section ?? '']?.(model) ?? ''
        if (drawn.get(place) === text) return // what did not change keeps its focus
        drawn.set(place, text)
        place.innerHTML = charts?.createHTML(text) ?? text
        onDrawn(place)
      }
      for (const place of places) stale.add(place)
      drawAll(places.filter(place => visible.has(place)))
      if (stale.size > 0) whenIdle(() => drawAll(places))
    },
  }
}

/** Soon, even if the browser is never idle; not every browser has idle callbacks. */
const whenIdle = (run: () => void): unknown =>
  window.requestIdleCallback?.(run, { timeout: 200 }) ?? setTimeout(run, 50)

/** Puts `query` into the address in the place of the parameters of these names; those of other controls stay. */
export function replaceQuery(names: readonly string[], query: string): void {
  const [others, own] = [location.search, query].map(text => text.slice(1).split('&'))
  const kept = others!.filter(pair => !names.includes(pair.split('=')[0]!))
  const pairs = [...kept, ...own!].filter(pair => pair !== '')
  history.replaceState(null, '', location.pathname + (pairs.length === 0 ? '' : `?${pairs.sort().join('&')}`))
}

export function download(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
