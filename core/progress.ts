export type ProgressEvent = {
  readonly step: string
  readonly done: number
  readonly total: number
  /** What is counted: `strategies`, `artifacts`. */
  readonly unit: string
}

export type Progress = (event: ProgressEvent) => void

/** Reports that 0 of `total` are done, and returns a function that adds `more`; `by` names the workers. */
export function countProgress(progress: Progress, step: string, total: number, unit: string) {
  let done = 0
  const count = (more = 1, by = ''): void => {
    done += more
    progress({ step, done, total, unit: unit + by })
  }
  count(0)
  return count
}
