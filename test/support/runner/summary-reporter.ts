import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one plain line that a program can read: `312 passed, 0 failed`. */
class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const states = modules.flatMap(module => [...module.children.allTests()].map(test => test.result().state))
    const count = (state: string): number => states.filter(each => each === state).length
    const broken = modules.filter(isBroken).length
    const failed = count('failed') + broken + errors.length
    const skipped = count('skipped') > 0 ? `, ${count('skipped')} skipped` : ''
    console.log(`${count('passed')} passed, ${failed} failed${skipped}`)
  }
}

/** A file that cannot be loaded, or whose preparation fails, has no test that failed; it fails itself. */
const isBroken = (module: TestModule): boolean =>
  module.state() === 'failed' &&
  (module.errors().length > 0 ||
    ![...module.children.allTests()].some(test => test.result().state === 'failed'))

// biome-ignore lint/style/noDefaultExport: the test runner loads a reporter by its default export
export default SummaryReporter
