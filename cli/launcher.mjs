#!/usr/bin/env node
// The `highwater` command as cron, systemd and npx meet it: any Node starts this file, the pinned one runs the rest.
import { spawn } from 'node:child_process'
import module from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import {
  brokenNode,
  COMPILE_CACHE,
  isRunningNodeEnough,
  NO_NODE,
  NO_PACKAGES,
  pinnedNode,
} from './pinned-node.mjs'

const entry = new URL('./highwater.ts', import.meta.url)
const binary = pinnedNode()

process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE // threads and a pinned Node find it here

if (isRunningNodeEnough()) {
  module.enableCompileCache()
  await import(entry.href).catch(error => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.startsWith('Cannot find package')) throw error
    console.error(NO_PACKAGES)
    process.exit(1)
  })
} else if (binary !== null) {
  const child = spawn(binary, [fileURLToPath(entry), ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to both processes; a supervisor signals only this one. The child decides when to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', error => {
    console.error(brokenNode(binary, error.message))
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
} else {
  console.error(NO_NODE)
  process.exit(1)
}
