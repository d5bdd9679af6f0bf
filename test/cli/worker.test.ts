import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

test.each([
  [['worker'], 'expected --fleet with the address of a Redis, or --run and --share'],
  [['worker', '--run', 'a'], '--run and --share are used together'],
  [
    ['worker', '--run', 'a/b', '--share', '1/2'],
    "--run: expected up to 64 letters, digits, '.', '_' and '-', got 'a/b'",
  ],
  [['worker', '--run', 'a', '--share', '3/2'], '--share: expected k/n such as 3/8, with k from 1 to n'],
  [['worker', '--fleet', 'http://a'], '--fleet: expected the address of a Redis'],
  [
    ['worker', '--run', 'a', '--share', '1/2', '--metrics-port', '70000'],
    "--metrics-port: expected a port from 0 to 65535, got '70000'",
  ],
  [
    ['build', '--book', '.', '--run', 'a', '--fleet-wait', 'x'],
    '--fleet-wait: expected seconds from 0 to 86400',
  ],
])('the options %j of a fleet are wrong usage, which exits 2', async (args, message) => {
  const { code, err } = await run(args)
  expect(code).toBe(2)
  expect(err).toContain(message)
})

test('a worker whose build never begins says how to begin it', async () => {
  const url = `file://${join(await temporaryFolder(), 'store')}`
  const stores = ['--store', url, '--private-store', `${url}.private`]
  const { code, err } = await run(['worker', ...stores, '--run', 'night', '--share', '1/2', '--wait', '0'])
  expect(code).toBe(1)
  expect(err).toContain('no build has begun the run night (compute) in')
  expect(err).toContain('start `highwater build --run night` on the same stores')
})
