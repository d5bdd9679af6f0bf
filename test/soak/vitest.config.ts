import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const ROOT = join(import.meta.dirname, '../..')

// biome-ignore lint/style/noDefaultExport: the test runner reads its configuration from the default export
export default defineConfig({
  root: ROOT,
  test: {
    include: ['test/soak/*.soak.ts'],
    fileParallelism: false, // one progress on the terminal
    globalSetup: ['./test/support/runner/run.ts'],
    setupFiles: ['./test/support/runner/end-file.ts'],
    testTimeout: 0, // MINUTES ends it
    disableConsoleIntercept: true, // its progress is for a terminal
    reporters: ['dot'],
  },
})
