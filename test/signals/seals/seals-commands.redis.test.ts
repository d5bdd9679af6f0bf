import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { parseEnvironment } from '#cli/settings/environment.ts'
import { readSecrets } from '#cli/settings/generated-secrets.ts'
import { createFileStore } from '#storage/file-store.ts'
import { createSigner } from '#storage/signature.ts'
import { run } from '../../cli/made-up.ts'
import { readAll, sealScene } from '../../support/signals/seal-scene.ts'
import { seededBytes } from '../../support/signals/signals.ts'
import { redis, server, useRedis } from '../../support/signals/test-redis.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

useRedis()

test('a backup of Redis that is restored by command seals nothing until `seals begin-anew` says why, which refuses a chain that can go on, and `seals status` shows each state', async () => {
  const folder = await temporaryFolder()
  const [publicFolder, privateFolder] = [join(folder, 'store'), join(folder, 'store.private')]
  const stores = { store: createFileStore(publicFolder), privateStore: createFileStore(privateFolder) }
  const { sealKey } = await readSecrets(parseEnvironment({}, folder), seededBytes('seals'))
  const scene = sealScene(redis, stores)
  const own = { signer: createSigner(sealKey) }
  const env = {
    ...{ REDIS_URL: server.url, DATA_FOLDER: folder, STORE_URL: pathToFileURL(publicFolder).href },
    ALLOW_UNSAFE_REDIS: 'yes',
  }
  const highwater = (...args: string[]) =>
    run(args, { env, now: scene.parts.now, drawBytes: seededBytes('seals') })
  expect((await highwater('seals', 'status')).out).toContain('has no seals')
  await scene.fire()
  scene.next()
  await scene.seal(own)
  expect((await highwater('seals', 'status')).out).toMatch(
    /seal 1 of highwater\/.*no seal has a time stamp.*the next one can be made/s,
  )
  scene.clock.ms += 1_200_000
  expect((await highwater('seals', 'status')).out).toContain('no service seals: is one running?')
  scene.clock.ms -= 1_200_000
  const anew = ['seals', 'begin-anew', '--reason', 'a disk was lost']
  expect((await highwater(...anew)).err).toContain('the chain can go on: there is nothing to begin anew')
  const backup = join(folder, 'signals.jsonl')
  expect(await highwater('ops', 'backup', backup)).toMatchObject({ code: 0 })
  const restored = await highwater('ops', 'restore', backup, '--force')
  expect([restored.code, restored.out]).toEqual([
    0,
    expect.stringContaining('nothing is sealed until `highwater seals begin-anew'),
  ])
  scene.next()
  await expect(scene.seal(own)).rejects.toThrow('Redis is a backup of 2026-11-20')
  const { code, out } = await highwater('seals', 'status', '--json')
  expect([code, JSON.parse(out).refused]).toEqual([1, expect.stringContaining('the stores may be as old')])
  expect((await highwater('seals', 'begin-anew')).code).toBe(2)
  const begun = await highwater(...anew)
  expect([begun.err, begun.out]).toEqual([
    '',
    expect.stringContaining('every seal before it can still be opened'),
  ])
  scene.next()
  expect((await scene.seal(own))?.seal.n).toBe(2)
  const { faults, items } = await readAll(stores)
  expect(faults).toEqual([])
  expect(items.map(item => JSON.parse(item).event ?? 'signal')).toEqual(['signal', 'begin_anew'])
})
