// A sealer as a process that may be killed: it seals for ever, by a clock in Redis that goes on by ten minutes each time.
import { connectRedis } from '#signals/redis/connect.ts'
import { sealOnce } from '#signals/seals/sealer.ts'
import { createFileStore } from '#storage/file-store.ts'
import { createSigner } from '#storage/signature.ts'

const [url = '', folder = '', pem = ''] = process.argv.slice(2)
const redis = connectRedis(url, () => {})
await redis.connect()
const parts = {
  ...{
    redis,
    store: createFileStore(`${folder}/public`),
    privateStore: createFileStore(`${folder}/private`),
  },
  ...{ signer: createSigner(pem), secret: 's'.repeat(32) },
}
console.log('sealing')
for (;;) {
  let ms = Number(await redis.incrby('test-clock', 600_000))
  await sealOnce({ ...parts, now: () => ms }, async until => {
    ms = Math.max(ms, until)
  })
}
