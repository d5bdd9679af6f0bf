import { bringChromium } from './chromium.ts'

/** Begins to bring the browser where there is none, while the first tests run. Whether it came is told by the tests that need it. */
// biome-ignore lint/style/noDefaultExport: the test runner calls a global setup by its default export
export default function setup(): () => Promise<unknown> {
  const brought = Promise.allSettled([bringChromium()])
  return () => brought
}
