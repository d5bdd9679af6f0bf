// Deliveries beside bare POSTs of the same bytes to the same receiver, and the waits that a subscriber feels. The receiver
// has a thread and Redis a process of its own.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { startTestRedis } from '#test/support/servers/redis.ts'
import type { Ground } from '../harness/ground.ts'
import type { Figure, Section } from '../harness/report.ts'
import { FAN_OUT, RATE, SCENES } from './scenes.ts'
import { measureService } from './service.ts'

export async function measureDelivery(ground: Ground): Promise<Section> {
  const { stops } = ground
  const receiver = new Worker(new URL(import.meta.url))
  stops.push(async () => void (await receiver.terminate()))
  const [port] = (await once(receiver, 'message')) as [number] // sent below
  const origin = `http://127.0.0.1:${port}`
  const figures: Figure[] = []
  for (const run of Object.values(SCENES)) {
    const server = await startTestRedis()
    figures.push(...(await run({ server, redis: await server.connect(), origin })))
    await server.stop()
  }
  figures.push(...(await measureService(ground)))
  return {
    title: 'Delivering signals',
    about:
      'Redis syncs every write before it replies; it, the receiver and the deliveries share the machine. Rates are medians of ' +
      `${RATE.rounds} rounds of ${RATE.clients} clients and ${RATE.signals} signals.`,
    figures,
  }
}

function serve(): void {
  const server = createServer((request, response) => {
    const kind = request.url?.split('/')[1]
    request.resume().once('end', () => {
      if (kind === 'hang') return
      if (kind === 'slow') setTimeout(() => response.end(), FAN_OUT.answerMs)
      else response.end()
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    parentPort?.postMessage(typeof address === 'object' ? address?.port : 0)
  })
}

if (!isMainThread) serve()
