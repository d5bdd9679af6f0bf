// `/` for tools: what there is, as JSON. Browsers are led to the page of the book.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ROUTES } from '#api/history/routes.ts'
import { NOW_MS } from '../../support/history/history-app.ts'
import { getEnvelope, openTiny } from './answers.ts'
import { undescribedFields } from './described.ts'
import { REGISTER } from './specification.ts'

const index = z.looseObject({
  service: z.string(),
  endpoints: z.array(z.looseObject({ path: z.string(), about: z.string() })),
})

const { app } = await openTiny()

test('the index as JSON is enveloped and lists the route table', async () => {
  const { response, data, meta, links } = await getEnvelope(app, '/')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(undescribedFields(index, data)).toEqual([])
  expect(index.parse(data).endpoints).toEqual(ROUTES.map(({ path, about }) => ({ path, about })))
  expect(REGISTER.strict().parse(meta).generated_utc).toBe(new Date(NOW_MS).toISOString().replace('.000', ''))
  expect(links.self).toBe('/')
})

test('the index as JSON links to addresses that answer', async () => {
  const { links } = await getEnvelope(app, '/')
  for (const link of Object.values(links)) expect((await app.request(link)).status, link).toBe(200)
})

test.each([
  undefined,
  '*/*',
  'application/json',
  'text/plain',
  '',
  'application/json, text/html;q=0',
  'text/html;q=0.5, application/json',
  'text/html-sandboxed',
  ';;,=',
])('a tool that accepts %s gets the index as JSON', async accept => {
  const response = await app.request('/', accept === undefined ? {} : { headers: { accept } })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
})
