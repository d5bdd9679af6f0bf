import type { TestProject } from 'vitest/node'
import { type ServerAccess, startS3Server } from './s3-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** How the S3 server of this run is reached. Each test makes buckets of its own. */
    s3: ServerAccess
  }
}

/** Starts the server once for all tests. */
// biome-ignore lint/style/noDefaultExport: the test runner calls a global setup by its default export
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { access, stop } = await startS3Server()
  project.provide('s3', access)
  return stop
}
