// Rounds of sealers in processes of their own on one store, of which each is killed at a random instant while signals are fired.
import { join } from 'node:path'
import { expect } from 'vitest'
import { createRandom } from '#pipeline/sample/random.ts'
import { commit } from '#signals/log/commit.ts'
import { readAfter } from '#signals/log/read-log.ts'
import { createFileStore } from '#storage/file-store.ts'
import { seqOf } from '#storage/seals/seal.ts'
import { newPrivateKeyPem } from '#storage/signature.ts'
import { startProcess } from '../history/highwater-process.ts'
import { sharedRedis } from '../servers/use-redis.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { BEGIN_MS, readAll } from './seal-scene.ts'
import { signalContent } from './signals.ts'

const WORKER = join(import.meta.dirname, 'sealer-process.worker.ts')

/** Plays the round of a seed: two sealers at once, both killed; returns how many were. Throws what is wrong with the chain. */
export async function openKilledSealers() {
  const { url, connect } = await sharedRedis()
  const redis = await connect()
  await redis.flushall()
  await redis.set('test-clock', BEGIN_MS)
  const folder = await temporaryFolder()
  const pem = newPrivateKeyPem()
  const stores = {
    store: createFileStore(`${folder}/public`),
    privateStore: createFileStore(`${folder}/private`),
  }
  return async (seed: number): Promise<number> => {
    const { uniform } = createRandom(seed)
    const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled') }
    const running = [1, 2].map(() =>
      startProcess(process.execPath, [WORKER, url, folder, pem], { cwd: folder, env }),
    )
    await Promise.all(running.map(each => each.prints(/sealing/)))
    for (const [i, each] of running.entries()) {
      const atMs = Number(await redis.get('test-clock'))
      await commit(redis, [{ content: signalContent(`k-${seed}-${i}`), onlyFor: null }], atMs)
      await new Promise(resolve => setTimeout(resolve, uniform() * 60))
      each.kill('SIGKILL')
    }
    await Promise.all(running.map(({ ended }) => ended))
    const { faults, items, records } = await readAll(stores)
    expect(faults).toEqual([])
    expect(records.every(record => record !== null) && records.length > 0).toBe(true)
    const logged = (await readAfter(redis, 0, 10_000)).map(({ body }) => body)
    const sealed = items.filter(item => seqOf(item) !== null)
    expect(sealed).toEqual(logged.slice(0, sealed.length))
    return running.length
  }
}
