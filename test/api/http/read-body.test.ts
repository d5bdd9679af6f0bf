// A body that breaks off is an error of the client, not of the service: it is not reported to the operator.
import { expect, test } from 'vitest'
import { readText } from '#api/http/read-body.ts'

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
