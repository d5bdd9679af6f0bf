/**
 * What a test starts ends with it, the last first, each awaited; then its folders are removed. What is started outside a
 * test, as in `beforeAll`, ends with the file. Everything that tests start or write is registered here.
 */
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished, type RunnerTestCase, TestRunner } from 'vitest'
import { processesOf } from './processes.ts'

type End = () => unknown

type Scope = {
  readonly ends: End[]
  readonly folders: string[]
  /** Whether it started processes, which may use a folder for some time after they were asked to end. */
  hasProcesses: boolean
}

const newScope = (): Scope => ({ ends: [], folders: [], hasProcesses: false })

/** Of the file that this process runs. */
const ofFile = newScope()
const ofTests = new WeakMap<RunnerTestCase, Scope>()

/** Runs at the end of the running test, or of the file if no test runs, after the ends that are registered later. */
export const atEnd = (end: End): void => void currentScope().ends.push(end)

/** The same at the end of the file, whatever runs. */
export const atEndOfFile = (end: End): void => void ofFile.ends.push(end)

/** Ends a process. */
export function atEndOfProcess(end: End): void {
  for (const scope of [currentScope(), ofFile]) scope.hasProcesses = true
  atEnd(end)
}

/** Removes a folder at the end of the running test, or of the file if no test runs, when all that was started has ended. */
export const removeAtEnd = (folder: string): void => void currentScope().folders.push(folder)

/** The same at the end of the file, whatever runs. */
export const removeAtEndOfFile = (folder: string): void => void ofFile.folders.push(folder)

function currentScope(): Scope {
  const test = TestRunner.getCurrentTest<RunnerTestCase | undefined>()
  if (test === undefined) return ofFile
  let scope = ofTests.get(test)
  if (scope === undefined) {
    const made = newScope()
    ofTests.set(test, made)
    onTestFinished(() => close(made))
    scope = made
  }
  return scope
}

/** Called after the last test of each file. */
export const endFile = (): Promise<void> => close(ofFile)

async function close(scope: Scope): Promise<void> {
  const { ends, folders, hasProcesses } = scope
  const failures: unknown[] = []
  const attempt = async (end: End): Promise<void> => {
    try {
      await end()
    } catch (error) {
      failures.push(error)
    }
  }
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await attempt(end)
  if (hasProcesses) await processesEnded(folders)
  for (const folder of folders.splice(0)) await attempt(() => rm(folder, { recursive: true, force: true }))
  scope.hasProcesses = false
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '))
}

const POLL_MS = 20
/** What was asked to end and has not after so many looks is ended by force. */
const PATIENT_LOOKS = 250

/** Nothing may write into a folder that is being removed: the processes that use it come to their end before. */
async function processesEnded(folders: readonly string[]): Promise<void> {
  for (let looks = 1; folders.length > 0; looks++) {
    const left = processesOf(...folders)
    if (left.length === 0) return
    if (looks > PATIENT_LOOKS) for (const { pid } of left) end(pid)
    await sleep(POLL_MS)
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {} // it ended meanwhile
}
