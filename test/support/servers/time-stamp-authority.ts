// An authority of RFC 3161 that the test runs itself, with openssl.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { listenForTest } from '../http/listen-for-test.ts'
import { blocksIn } from '../page-blocks.ts'
import { lastingFolder, writeFiles } from '../temporary-folder.ts'

const CONFIG = `[tsa]
default_tsa = own
[own]
serial = serial
signer_cert = tsa.pem
signer_key = tsa.key
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
`

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** `start` serves it over HTTP, to the end of the running test: the command of the page with its address. */
export type Authority = { readonly folder: string; readonly start: () => Promise<string> }

/** Its certificate is `ca.pem` in the folder; `other.pem` is of one that nobody trusts here. */
export async function openAuthority(): Promise<Authority> {
  const folder = await lastingFolder()
  const openssl = (...args: readonly string[]) => promisify(execFile)('openssl', args, { cwd: folder })
  await writeFiles(folder, {
    'tsa.cnf': CONFIG,
    serial: '01',
    usage: 'extendedKeyUsage=critical,timeStamping\n',
  })
  for (const name of ['ca', 'other']) {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`]
    await openssl('req', '-x509', ...KEY, ...files, '-subj', `/CN=${name}`)
  }
  const subject = ['-subj', '/O=Hand/CN=Hand Time Stamps']
  await openssl('req', ...KEY, '-keyout', 'tsa.key', '-out', 'tsa.csr', ...subject)
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'usage']
  await openssl('x509', '-req', '-in', 'tsa.csr', ...signing, '-out', 'tsa.pem', '-days', '30')
  const start = async (): Promise<string> => {
    const url = await listenForTest(
      createServer(async (request, response) => {
        await writeFile(join(folder, 'query'), await buffer(request))
        await openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'query', '-out', 'reply')
        response.end(await readFile(join(folder, 'reply')))
      }),
    )
    const blocks = blocksIn('docs/publishing.md', 'sh')
    const recipe = blocks.find(block => block.includes('ANCHOR_COMMAND')) ?? ''
    const [, command = ''] = /ANCHOR_COMMAND='([^']+)'/.exec(recipe) ?? []
    expect(command).toContain('https://freetsa.org/tsr')
    return command.replace('https://freetsa.org/tsr', url)
  }
  return { folder, start }
}
