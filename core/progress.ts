/** How far a long step is: told by those who work, shown by those who talk to people. */
export type ProgressEvent = {
  readonly step: string
  readonly done: number
  readonly total: number
  /** What is counted: `strategies`, `artifacts`. */
  readonly unit: string
}

export type Progress = (event: ProgressEvent) => void
