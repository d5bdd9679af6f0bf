// Pages as a reader sees them: how soon something is painted, whether it stays in its place, and how fast it follows the slider.
import type { Browser } from 'playwright-core'
import { z } from 'zod'
import { launchChromium, PATIENCE_MS } from '#test/support/browser/chromium.ts'
import { median } from '../harness/load.ts'
import { atMost, type Figure, plain } from '../harness/report.ts'

const LEVELS = 50
const MOST_STEP_MS = 16
const LOADS = 5
const DESKTOP = { width: 1400, height: 1000 }
const PHONE = { width: 390, height: 844 }

/** A slow connection and a slow telephone, as tools for pages usually simulate them. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 }
const TIMES_SLOWER = 4

export async function measureInChromium(url: string, sid: string, days: number): Promise<Figure[]> {
  const browser = await launchChromium()
  try {
    return [
      ...(await measureSlider(browser, `${url}/strategies/${sid}`, days)),
      ...(await measureLoading(browser, `${url}/strategies/${sid}`, 'the sheet')),
      ...(await measureLoading(browser, `${url}/`, 'the book page')),
    ]
  } finally {
    await browser.close()
  }
}

/**
 * Steps through the levels in no order, each when the whole page shows the one before: milliseconds from the event until what is
 * in view is laid out, until the frame with it is made, and until all other sections are drawn, too.
 */
const STEPS = `(async () => {
  const slider = document.querySelector('#risk-slider')
  const headline = document.querySelector('[data-section="headline"]')
  const frame = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
  const times = []
  for (let i = 0; i <= ${LEVELS}; i++) {
    const drawn = new Promise(resolve => {
      const observer = new MutationObserver(() => resolve(observer.disconnect()))
      observer.observe(headline, { childList: true })
    })
    slider.valueAsNumber = (i * 7 + 1) % (Number(slider.max) + 1)
    const begin = performance.now()
    slider.dispatchEvent(new Event('input'))
    await drawn // a microtask: the task that draws all in view has ended
    document.body.getBoundingClientRect()
    const laidOut = performance.now() - begin
    await frame()
    const shown = performance.now() - begin
    while (document.querySelector('main').ariaBusy !== 'false') await frame()
    const whole = performance.now() - begin
    if (i > 0) times.push([laidOut, shown, whole]) // the first loads the series
  }
  return times
})()`

const times = z.array(z.tuple([z.number(), z.number(), z.number()])).length(LEVELS)

async function measureSlider(browser: Browser, url: string, days: number): Promise<Figure[]> {
  const context = await browser.newContext({ viewport: DESKTOP })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'networkidle' })
  const steps = times.parse(await page.evaluate(STEPS))
  await context.close()
  const [laidOut, shown, whole] = [0, 1, 2].map(i => steps.map(step => step[i]!).sort((a, b) => a - b))
  const name = `a step of the slider on ${days} days`
  return [
    atMost(`${name}: median of ${LEVELS}`, median(laidOut!), MOST_STEP_MS, 'ms'),
    plain(`${name}: 95 %`, laidOut![Math.floor(0.95 * LEVELS)]!, 'ms'),
    plain(`${name}: until the frame with it is made, median`, median(shown!), 'ms'),
    plain(`${name}: until the sections out of view are drawn, median`, median(whole!), 'ms'),
  ]
}

async function measureLoading(browser: Browser, url: string, name: string): Promise<Figure[]> {
  const phone = await loadPage(browser, url, PHONE)
  const desktop = await loadPage(browser, url, DESKTOP)
  const shifts = [...phone, ...desktop].map(({ shift }) => shift)
  return [
    plain(`${name}: first contentful paint, slow`, median(phone.map(({ paintMs }) => paintMs)), 'ms'),
    atMost(`${name}: cumulative layout shift`, Math.max(...shifts), 0, ''),
  ]
}

/** When something was first painted, and the sum of all shifts since. */
const LOADED = `new Promise(resolve => {
  let shift = 0
  const add = list => { for (const entry of list.getEntries()) shift += entry.value }
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
  const [paint] = performance.getEntriesByName('first-contentful-paint')
  setTimeout(() => resolve({ shift, paintMs: paint.startTime }), 500)
})`

const loaded = z.object({ shift: z.number(), paintMs: z.number() })

async function loadPage(browser: Browser, url: string, viewport: typeof PHONE) {
  const loads: z.infer<typeof loaded>[] = []
  for (let load = 0; load < LOADS; load++) {
    const context = await browser.newContext({ viewport }) // with an empty cache
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', SLOW)
    await session.send('Emulation.setCPUThrottlingRate', { rate: TIMES_SLOWER })
    const asked = page.waitForResponse(/\/version$/) // the script of every page asks for it when it runs
    await page.goto(url, { waitUntil: 'networkidle' })
    await asked
    loads.push(loaded.parse(await page.evaluate(LOADED)))
    await context.close()
  }
  return loads
}
