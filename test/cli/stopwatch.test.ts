import { expect, test } from 'vitest'
import { createStopwatch } from '#cli/build-version.ts'
import type { ProgressEvent } from '#core/progress.ts'

/** A clock that stands until it is moved. */
function aClock() {
  let now = 1_000
  const pass = (ms: number): void => {
    now += ms
  }
  return { elapsed: () => now, pass }
}

const event = (step: string): ProgressEvent => ({ step, done: 0, total: 1, unit: 'blocks' })

test('the stopwatch counts every millisecond to one step, and continues a step that comes again', () => {
  const { elapsed, pass } = aClock()
  const watch = createStopwatch(elapsed, 'read')
  pass(5)
  watch.begin('compute')
  pass(7)
  watch.begin('read')
  pass(1)
  expect(watch.end()).toEqual({ read: 6, compute: 7 })
})

test('the stopwatch measures steps of progress events by their first word, and passes the events on', () => {
  const { elapsed, pass } = aClock()
  const watch = createStopwatch(elapsed, 'read')
  const steps: string[] = []
  const progress = watch.follow(({ step }) => steps.push(step))
  for (const step of ['compute', 'correlate daily', 'correlate daily', 'correlate weekly', 'verify']) {
    progress(event(step))
    pass(10)
  }
  expect(watch.end()).toEqual({ read: 0, compute: 10, correlate: 30, verify: 10 })
  expect(steps).toHaveLength(5)
})

test('the stopwatch lists steps in the order in which they began, and rounds when all is added up', () => {
  const { elapsed, pass } = aClock()
  const watch = createStopwatch(elapsed, 'render')
  for (let i = 0; i < 10; i++) {
    pass(0.3)
    watch.begin('compute')
    watch.begin('render')
  }
  expect(Object.entries(watch.end())).toEqual([
    ['render', 3],
    ['compute', 0],
  ])
})
