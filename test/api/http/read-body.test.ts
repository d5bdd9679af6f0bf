// Which bodies are read. An error of one is the client's, not the service's: it is not reported to the operator.
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readJson, readText } from '#api/http/read-body.ts'

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

describe('JSON is read', () => {
  test.each([
    'application/json',
    'Application/JSON ; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; charset=utf8; x=y',
  ])('with Content-Type: %s', async type => {
    expect(await readJson(put('{"a":1}', { 'content-type': type }), 100)).toEqual({ a: 1 })
  })

  test.each([
    'application/json; charset=utf-16',
    'application/json; x=y; charset="ISO-8859-1"',
    'text/json',
    'json',
    'application/jsonp',
    ';charset=utf-8',
  ])('and refused with Content-Type: %s', async type => {
    await expect(readJson(put('{"a":1}', { 'content-type': type }), 100)).rejects.toEqual(refused)
  })
})

describe('a compressed body is refused, also where no body is needed', () => {
  test.each(['gzip', 'br', 'GZIP', 'identity, gzip', 'x'])('Content-Encoding: %s', async coding => {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding }
    for (const isOptional of [false, true]) {
      await expect(readJson(put(gzipSync('{}'), headers), 100, isOptional)).rejects.toEqual(refused)
    }
    await expect(readText(put(gzipSync('a=b'), headers), 100)).rejects.toEqual(refused)
  })

  test('identity is no compression', async () => {
    expect(await readText(put('a=b', { 'content-encoding': 'Identity' }), 100)).toBe('a=b')
  })
})
