import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseEnvironment, UsageError } from '#cli/environment.ts'
import { readSecrets } from '#cli/generated-secrets.ts'
import { parseKeyRing } from '#signals/delivery/secret-box.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { seededBytes } from '../support/signals/signals.ts'

const random = seededBytes('secrets')

test('secrets that are not set are generated once, and only their owner can read them', async () => {
  const folder = join(await temporaryFolder(), 'data')
  const environment = parseEnvironment({}, folder)
  const [one, two] = await Promise.all([
    readSecrets(environment, folder, random),
    readSecrets(environment, folder, random),
  ])
  expect(two).toEqual(one)
  expect(await readSecrets(environment, folder, random)).toEqual(one)
  expect(one.operatorToken.length).toBeGreaterThanOrEqual(32)
  expect(parseKeyRing(one.secretKey).size).toBe(1)
  for (const name of ['operator-token', 'secret-key'])
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
})

test('a file of generated secrets that others can read is refused', async () => {
  const folder = await temporaryFolder()
  const environment = parseEnvironment({}, folder)
  await readSecrets(environment, folder, random)
  await chmod(join(folder, 'secret-key'), 0o640)
  await expect(readSecrets(environment, folder, random)).rejects.toThrow('chmod 600')
})

test.each(['0.0.0.0', '::', '10.1.2.3', 'data.example.org'])(
  'a service on the host %s refuses generated secrets, and takes chosen ones',
  async HOST => {
    const folder = await temporaryFolder()
    await expect(readSecrets(parseEnvironment({ HOST }, folder), folder, random)).rejects.toThrow(UsageError)
    const chosen = {
      OPERATOR_TOKEN: 't'.repeat(40),
      SECRET_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    }
    const environment = parseEnvironment({ HOST, ...chosen }, folder)
    expect(await readSecrets(environment, folder, random)).toEqual({
      operatorToken: chosen.OPERATOR_TOKEN,
      secretKey: chosen.SECRET_KEY,
    })
  },
)
