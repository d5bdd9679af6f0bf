// A real full disk under Redis: nothing that was acknowledged is lost, the refusal of a fire says what to fix, and when there
// is room again everything goes on.

import { spawnSync } from 'node:child_process'
import { open, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { beforeAll, expect, test } from 'vitest'
import { startLocalServer } from '#cli/local-server.ts'
import { createAlerts, type SentAlert } from '#signals/alerts.ts'
import { guardLog } from '#signals/log/guard.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { assertDisk, usedOfDisk } from '#signals/redis/boot-checks.ts'
import { readOverview } from '#signals/views/overview.ts'
import { codeOf } from '#storage/error-code.ts'
import { atEndOfProcess } from '../../support/ends.ts'
import { newRedisFolder, type TestRedis } from '../../support/servers/redis.ts'
import { ownRedis } from '../../support/servers/use-redis.ts'
import { until } from '../../support/signals/delivery.ts'
import { operatorClient, operatorParts } from '../../support/signals/operator.ts'
import { NOW_MS, signalContent } from '../../support/signals/signals.ts'

const UNSHARE = ['--map-root-user', '--mount']
const MOUNT = 'mount -t tmpfs -o size=2m tmpfs "$0"'

/** Whether this machine lets somebody mount a disk in a place of its own. */
const canMount = (): boolean => spawnSync('unshare', [...UNSHARE, 'bash', '-c', MOUNT, '/tmp']).status === 0

type SmallDisk = {
  /** Where it is for what is run there. */
  readonly folder: string
  /** A command that runs another one where the disk is. */
  readonly within: readonly string[]
  /** Where it is from outside. */
  readonly outside: string
  /** Fills it, but for so many bytes. */
  fill(butBytes: number): Promise<void>
  /** Makes room again. */
  clear(): Promise<void>
}

/** Mounts a disk over a new folder, to the end of the file. */
async function mountSmallDisk(): Promise<SmallDisk> {
  const folder = newRedisFolder()
  const hold = `${MOUNT} && echo "ready disk: $$" && exec cat`
  const holder = await startLocalServer('unshare', [...UNSHARE, 'bash', '-c', hold, folder])
  atEndOfProcess(holder.stop)
  const outside = `/proc/${holder.pid}/root${folder}`
  const filler = join(outside, 'filler')
  return {
    folder,
    within: ['nsenter', '--preserve-credentials', '--user', '--mount', '--target', String(holder.pid)],
    outside,
    async fill(butBytes) {
      await truncate(filler, (await writeUntilFull(filler)) - butBytes)
    },
    clear: () => truncate(filler, 0),
  }
}

const BLOCK = new Uint8Array(4_096)

/** Gives how long the file is when nothing more can be written. */
async function writeUntilFull(path: string): Promise<number> {
  const file = await open(path, 'w')
  try {
    for (;;) await file.write(BLOCK)
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

const isAllowed = canMount()
if (!isAllowed) console.warn('no full disk under Redis: this machine lets nobody mount one')

let disk: SmallDisk
let server: TestRedis
let redis: Redis

beforeAll(async () => {
  if (!isAllowed) return
  disk = await mountSmallDisk()
  server = await ownRedis(disk.folder, disk.within)
  redis = await server.connect()
  await guardLog(redis, 0, () => 'epoch-1')
})

const diskUsed = () => usedOfDisk(disk.outside)
const parts = () =>
  operatorParts(redis, { clock: { now: () => Date.now(), elapsed: () => 0 }, diskUsed, onError: () => {} })

async function fire(id: string) {
  const { is_test: _isTest, implied_leverage: _leverage, ...body } = signalContent(id, { mode: 'DRY_RUN' })
  return operatorClient(parts())('POST', '/ops/signals', body)
}

async function alertsOf(): Promise<readonly string[]> {
  const sent: SentAlert[] = []
  const alerts = createAlerts(
    alert => sent.push(alert),
    () => NOW_MS,
  )
  const used = await diskUsed()
  const failed = (error: unknown) => alerts.onLookFailed(error, used)
  await readOverview(parts()).then(overview => alerts.look(overview, used), failed)
  return sent.map(({ kind, subject }) => `${kind} ${subject}`).filter(text => text !== 'relay_stuck relay')
}

test.runIf(isAllowed)(
  'a full disk under Redis answers 503 with what to fix, loses nothing acknowledged, and continues when there is room',
  async () => {
    expect((await fire('first')).status).toBe(201)
    expect(await alertsOf()).toEqual([])
    await disk.fill(5 * 4_096)
    expect(await alertsOf()).toEqual(['redis_full disk at 85 %'])

    let acknowledged = 1
    let answer = await fire(`s${acknowledged}`)
    for (; answer.status === 201; answer = await fire(`s${acknowledged}`)) acknowledged++
    const last = `s${acknowledged}`
    await server.ended()
    await until(() => redis.status !== 'ready')
    expect(acknowledged).toBeGreaterThan(2)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(answer.json).toEqual({
      error: {
        code: 'unavailable',
        message:
          'Redis is away, and its disk is full: make room, and start it again where it does not come back; ' +
          'outcome unknown: send the same signal_id again',
        details: null,
      },
      meta: expect.anything(),
    })
    expect(await alertsOf()).toEqual(['redis_down redis', 'redis_full disk at 85 %'])

    await disk.clear()
    await server.restart()
    await until(() => redis.status === 'ready')
    expect((await fire(last)).json).toMatchObject({ data: { seq: acknowledged + 1 } })
    expect((await fire('after')).status).toBe(201)
    const seqs = (await readAfter(redis, 0, 1_000)).map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: acknowledged + 2 }, (_, i) => i + 1))
    expect(await alertsOf()).toEqual([])
  },
)

test.runIf(isAllowed)(
  'the disk of Redis is found by the folder that an operator names, which must exist',
  async () => {
    await expect(assertDisk(disk.outside)).resolves.toBeUndefined()
    await expect(assertDisk(`${disk.outside}/nowhere`)).rejects.toThrow('REDIS_FOLDER: the folder')
    expect(await usedOfDisk(`${disk.outside}/nowhere`)).toBeNull()
  },
)
