// Preloaded into a process (`node --import`), outside the product: ends it with SIGKILL right before or right after one
// of its writes to a disk, so that a kill has a place and not a time. All threads count together.
import blockingFiles from 'node:fs'
import { type FileHandle, default as files } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

/** The n-th write, or the first one to a path of this pattern, be it there already; done or not when the process ends. */
export type Kill = {
  readonly at: { readonly nth: number } | { readonly path: string }
  readonly isDone: boolean
}

const { HIGHWATER_TEST_KILL: order = '', HIGHWATER_TEST_COUNT: countFile = '' } = process.env
const kill = order === '' ? null : (JSON.parse(order) as Kill) // written by fileGround

const COUNT = 'writes that the tests count'
if (isMainThread) setEnvironmentData(COUNT, new Int32Array(new SharedArrayBuffer(4)))
const count = getEnvironmentData(COUNT) as Int32Array // set above, by the main thread

function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Counts an operation, and dies before it if it is the one; returns whether to die after it. */
function isLast(path: unknown, isWrite: boolean): boolean {
  const nth = isWrite ? Atomics.add(count, 0, 1) : -1
  const isHit =
    kill !== null && ('nth' in kill.at ? kill.at.nth === nth : new RegExp(kill.at.path).test(String(path)))
  if (isHit && !kill.isDone) end()
  return isHit
}

/** Runs an operation, or dies before or after it. */
async function counted<T>(path: unknown, isWrite: boolean, run: () => Promise<T>): Promise<T> {
  const isHit = isLast(path, isWrite)
  try {
    return await run()
  } finally {
    if (isHit) end() // also if it fails: a link into a folder that is not made yet
  }
}

/** The same of an operation that blocks; the path is its last argument that is a text. */
const blocking =
  <Args extends unknown[], T>(run: (...args: Args) => T) =>
  (...args: Args): T => {
    const isHit = isLast(args.findLast(each => typeof each === 'string') ?? '', true)
    try {
      return run(...args)
    } finally {
      if (isHit) end()
    }
  }

const { open, link, rename, unlink, rm, mkdir, lstat } = files
const replaced = {
  link: (from: string, to: string) => counted(to, true, () => link(from, to)),
  rename: (from: string, to: string) => counted(to, true, () => rename(from, to)),
  unlink: (path: string) => counted(path, true, () => unlink(path)),
  rm: (path: string, how: object) => counted(path, true, () => rm(path, how)),
  mkdir: (path: string, how: object) => counted(path, true, () => mkdir(path, how)),
  lstat: (path: string) => counted(path, false, () => lstat(path)),
  open: async (...args: Parameters<typeof open>) => watched(await open(...args)),
}
Object.assign(files, replaced)
const { writeFileSync } = blockingFiles
Object.assign(blockingFiles, {
  mkdirSync: blocking(blockingFiles.mkdirSync),
  writeFileSync: blocking(blockingFiles.writeFileSync),
  renameSync: blocking(blockingFiles.renameSync),
  rmSync: blocking(blockingFiles.rmSync),
})
syncBuiltinESMExports()
if (countFile !== '' && isMainThread) process.once('exit', () => writeFileSync(countFile, String(count[0])))

/** What is written to a file and when it is flushed count as well. */
function watched(file: FileHandle): FileHandle {
  const { writeFile, sync } = file
  file.writeFile = (...args) => counted('', true, () => writeFile.apply(file, args))
  file.sync = () => counted('', true, () => sync.call(file))
  return file
}
