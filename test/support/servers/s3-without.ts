// An S3 service without conditional writes, in this process: it ignores the condition, or refuses the request.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenForTest } from '../http/listen-for-test.ts'

/** Starts one that ends with the test: the objects that it has, by path, and the environment of a command that uses it. */
export async function startS3Without(conditions: 'ignored' | 'refused') {
  const objects = new Map<string, Buffer>()
  const server = createServer(async (asked, answer) => {
    const { method, headers, url = '' } = asked
    const path = url.replace(/\?.*/, '')
    const sent = await buffer(asked)
    const refuse = (status: number, code: string) =>
      answer.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)
    if (conditions === 'refused' && 'if-none-match' in headers) return void refuse(501, 'NotImplemented')
    if (method === 'PUT') objects.set(path, sent)
    if (method === 'DELETE') objects.delete(path)
    if (method === 'GET' && !objects.has(path)) return void refuse(404, 'NoSuchKey')
    answer.end(method === 'GET' ? objects.get(path) : undefined)
  })
  const env = {
    AWS_ENDPOINT_URL_S3: await listenForTest(server),
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'testing',
  }
  return { objects, env }
}
