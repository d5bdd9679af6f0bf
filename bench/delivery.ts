// Deliveries beside bare POSTs of the same bytes to the same receiver, and the waits that a subscriber feels. The receiver
// has a thread and Redis a process of its own. Run: node bench/delivery.ts > bench/results/delivery.md
import { once } from 'node:events'
import { createServer } from 'node:http'
import { cpus, loadavg } from 'node:os'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { startTestRedis } from '#test/support/servers/redis.ts'
import { FAN_OUT, RATE, SCENES } from './delivery-scenes.ts'

async function measure(): Promise<void> {
  const receiver = new Worker(new URL(import.meta.url))
  const [port] = (await once(receiver, 'message')) as [number] // sent below
  const origin = `http://127.0.0.1:${port}`
  const rows: string[] = []
  for (const [scene, run] of Object.entries(SCENES)) {
    if (wantedScenes.length > 0 && !wantedScenes.includes(scene)) continue
    const server = await startTestRedis()
    rows.push(
      ...(await run({
        server,
        redis: await server.connect(),
        origin,
        turn: () => receiver.postMessage('turn'),
      })),
    )
    await server.stop()
    console.error(`${scene}: ${rows.at(-1)}`)
  }
  await receiver.terminate()
  console.log(report(rows))
}

/** All of them, unless some are named behind the script. */
const wantedScenes = process.argv.slice(2)

function serve(): void {
  let hasTurned = false
  parentPort?.on('message', () => (hasTurned = true))
  const server = createServer((request, response) => {
    const kind = request.url?.split('/')[1]
    request.resume().once('end', () => {
      if (kind === 'hang' || (kind === 'turning' && hasTurned)) return
      if (kind === 'slow') setTimeout(() => response.end(), FAN_OUT.answerMs)
      else response.end()
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    parentPort?.postMessage(typeof address === 'object' ? address?.port : 0)
  })
}

const report = (rows: readonly string[]): string =>
  [
    '# Delivering signals',
    '',
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version},`,
    `load ${loadavg()[0]?.toFixed(1)} at the end. \`node bench/delivery.ts\`: Redis syncs every write before it replies; it, the`,
    `receiver and the deliveries share the machine. Rates are medians of ${RATE.rounds} rounds of ${RATE.clients} clients and ${RATE.signals} signals.`,
    '',
    '| | Measured | Target |',
    '|---|---|---|',
    ...rows,
  ].join('\n')

if (isMainThread) await measure()
else serve()
