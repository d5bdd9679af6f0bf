import { basename } from 'node:path'
import { DefaultReporter, type TestCase, type TestModule, type TestSpecification } from 'vitest/node'

/** Between two lines of progress. */
const LINE_EVERY_MS = 10_000

const SLOWEST = 10

/** A run of few files has a line for each. */
const FEW_FILES = 20

/**
 * Prints how far a run is every ten seconds and each file that fails; at the end the errors, what was skipped and why, the
 * slowest files, what failed, and one line that a program can read: `312 passed, 0 failed`.
 */
class ProgressReporter extends DefaultReporter {
  #files = 0
  #ended = 0
  #passed = 0
  #failed = 0
  #printedAt = 0
  readonly #running = new Set<string>()

  constructor() {
    super({ summary: false })
  }

  override onTestRunStart(files: readonly TestSpecification[]): void {
    super.onTestRunStart(files)
    this.#files = files.length
    this.#printedAt = this.start
    this.log(`${files.length} files\n`)
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(nameOf(module))
  }

  override onTestCaseResult(test: TestCase): void {
    super.onTestCaseResult(test)
    const { state } = test.result()
    if (state === 'passed') this.#passed++
    if (state === 'failed') this.#failed++
  }

  protected override printTestModule(module: TestModule): void {
    this.#running.delete(nameOf(module))
    this.#ended++
    if (module.state() === 'failed' || this.#files <= FEW_FILES) super.printTestModule(module)
    const now = performance.now()
    if (now - this.#printedAt < LINE_EVERY_MS) return
    this.#printedAt = now
    const [files, tests] = [`${this.#ended} of ${this.#files} files`, `${this.#passed} tests passed`]
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : ''
    this.log(
      `${clock(now - this.start)}  ${files}, ${tests}${failed}; running: ${[...this.#running].join(', ')}`,
    )
  }

  override onTestRunEnd(...[modules, errors, reason]: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(modules, errors, reason)
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const skipped = tests.filter(test => test.result().state === 'skipped')
    if (skipped.length > 0) this.log('skipped:')
    for (const line of new Set(skipped.map(whySkipped))) this.log(`  ${line}`)
    this.log('slowest files:')
    const bySlowness = modules.toSorted((a, b) => b.diagnostic().duration - a.diagnostic().duration)
    for (const module of bySlowness.slice(0, SLOWEST))
      this.log(`  ${seconds(module.diagnostic().duration).padStart(8)}  ${module.relativeModuleId}`)
    const count = (state: string): number => tests.filter(test => test.result().state === state).length
    for (const module of modules.filter(isBroken)) this.log(`failed: ${module.relativeModuleId}`)
    for (const test of tests.filter(test => test.result().state === 'failed'))
      this.log(`failed: ${test.module.relativeModuleId}: ${test.fullName}`)
    const failed = count('failed') + modules.filter(isBroken).length + errors.length
    this.log(
      `\n${count('passed')} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
    )
  }
}

const nameOf = ({ relativeModuleId }: TestModule): string => basename(relativeModuleId, '.test.ts')

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1_000) % 60).padStart(2, '0')}`

/** The reason is what the test says when it skips itself, or part of its name. */
function whySkipped(test: TestCase): string {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  return `${test.module.relativeModuleId}: ${note ?? test.fullName}`
}

/** A file that cannot be loaded, or whose preparation fails, has no test that failed; it fails itself. */
const isBroken = (module: TestModule): boolean =>
  module.state() === 'failed' &&
  (module.errors().length > 0 ||
    ![...module.children.allTests()].some(test => test.result().state === 'failed'))

// biome-ignore lint/style/noDefaultExport: the test runner loads a reporter by its default export
export default ProgressReporter
