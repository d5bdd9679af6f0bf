// Which bodies are read. An error of one is the client's, not the service's: it is not reported to the operator.
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readJson, readText } from '#api/service/read-body.ts'

test('a body that breaks off is a bad request', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('{"url'))
      controller.error(new Error('aborted'))
    },
  })
  const request = new Request('http://localhost/', { method: 'PUT', body, duplex: 'half' })
  await expect(readText(request, 1_000)).rejects.toMatchObject({
    code: 'bad_request',
    message: 'the body did not arrive whole',
  })
})

const put = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>): Request =>
  new Request('http://localhost/', { method: 'PUT', body, headers })

const refused = expect.objectContaining({ code: 'unsupported_media_type' })

test.each([
  'application/json',
  'Application/JSON ; charset=UTF-8',
  'application/json;charset="utf-8"',
  'application/json; charset=utf8; x=y',
])('JSON with the Content-Type %s is read', async type => {
  expect(await readJson(put('{"a":1}', { 'content-type': type }), 100)).toEqual({ a: 1 })
})

test.each([
  'application/json; charset=utf-16',
  'application/json; x=y; charset="ISO-8859-1"',
  'text/json',
  'json',
  'application/jsonp',
  ';charset=utf-8',
])('a JSON body with the Content-Type %s is refused', async type => {
  await expect(readJson(put('{"a":1}', { 'content-type': type }), 100)).rejects.toEqual(refused)
})

test.each(['gzip', 'br', 'GZIP', 'identity, gzip', 'x'])(
  'a body with the Content-Encoding %s is refused, also if no body is needed',
  async coding => {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding }
    for (const isOptional of [false, true]) {
      await expect(readJson(put(gzipSync('{}'), headers), 100, isOptional)).rejects.toEqual(refused)
    }
    await expect(readText(put(gzipSync('a=b'), headers), 100)).rejects.toEqual(refused)
  },
)

test('a body with the Content-Encoding identity is read', async () => {
  expect(await readText(put('a=b', { 'content-encoding': 'Identity' }), 100)).toBe('a=b')
})
