import { expect, test } from 'vitest'
import { withRemedy } from '#storage/remedies.ts'

const URL = 'file:///srv/store'

const errorOf = (code: string) => Object.assign(new Error(`${code}: what the system says, write`), { code })

test.each([
  ['ENOSPC', /free space on the disk of file:\/\/\/srv\/store, and run the command again$/],
  ['EDQUOT', /free space on the disk of file:\/\/\/srv\/store, and run the command again$/],
  ['EFBIG', /larger than the limit of this process .* raise it .*, and run the command again$/],
  ['EACCES', /give the user that runs this the right to write in file:\/\/\/srv\/store, and run/],
  ['EROFS', /the disk of file:\/\/\/srv\/store is read-only: mount it for writing/],
])('the error %s has the message of the system and the fix', (code, remedy) => {
  const cause = errorOf(code)
  const error = withRemedy(cause, URL)
  expect(error).toMatchObject({ message: expect.stringMatching(remedy), cause })
  expect(error).toMatchObject({ message: expect.stringContaining(`${code}: what the system says, write; `) })
})

test('an error that nobody knows a remedy for stays what it is', () => {
  for (const thrown of [errorOf('EIO'), new Error('no code'), 'a text', null]) {
    expect(withRemedy(thrown, URL)).toBe(thrown)
  }
})
