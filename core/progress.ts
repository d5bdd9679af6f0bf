/** The progress of a long step, reported to whatever displays it. */
export type ProgressEvent = {
  readonly step: string
  readonly done: number
  readonly total: number
  /** What is counted: `strategies`, `artifacts`. */
  readonly unit: string
}

export type Progress = (event: ProgressEvent) => void
