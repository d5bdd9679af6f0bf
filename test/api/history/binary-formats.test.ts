// Arrow and Parquet over HTTP: published and computed alike, and as they are, whatever coding a client would like.
import { expect, test } from 'vitest'
import { BINARY_FORMATS, readTable } from '../../core/dataset/resources/read-columns.ts'
import { TINY_VERSION } from '../../support/books/publish-book.ts'
import { openTiny } from './answers.ts'

const { app } = await openTiny()

const EVERY_CODING = { 'accept-encoding': 'zstd, br, gzip' }

const MEDIA_TYPES = {
  arrow: 'application/vnd.apache.arrow.file',
  parquet: 'application/vnd.apache.parquet',
} as const

const addresses = BINARY_FORMATS.flatMap(format =>
  [
    ...['/v1/export', '/v1/export?period=weekly', '/v1/export?risk_pct=0.013', '/v1/strategies/ash/trades'],
    ...['/v1/strategies', '/v1/benchmark', '/v1/correlation', '/v1/correlation?ids=yew,ash&period=weekly'],
    ...['/v1/strategies/ash/returns', '/v1/strategies/ash/returns?from=2024-03-02&period=weekly'],
    ...['/v1/strategies/ash/curve', '/v1/strategies/ash/curve?risk_pct=0.013', '/v1/strategies/ash/rolling'],
  ].map(
    address => [`${address}${address.includes('?') ? '&' : '?'}format=${format}`, format, address] as const,
  ),
)

test.each(addresses)(
  '%s is a file of its media type without a coding, with the table of the CSV',
  async (address, format, plain) => {
    const response = await app.request(address, { headers: EVERY_CODING })
    const { headers } = response
    const body = new Uint8Array(await response.arrayBuffer())
    expect(response.status).toBe(200)
    expect(headers.get('content-encoding')).toBeNull()
    expect(headers.get('content-type')).toBe(MEDIA_TYPES[format])
    expect(headers.get('content-length')).toBe(String(body.length))
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="[a-z0-9.T-]+Z?\\.${format}"$`, 'i'),
    )
    expect(headers.get('x-dataset-version')).toBe(TINY_VERSION)
    expect(headers.get('vary')).toContain('Accept-Encoding')
    const csv = await (await app.request(`${plain}${plain.includes('?') ? '&' : '?'}format=csv`)).text()
    const [header, ...rows] = csv.split('\r\n').slice(0, -1)
    const table = readTable(format, body)
    expect(table.header).toEqual(header!.split(',').filter(name => !name.endsWith('_utc')))
    expect(table.rows.length).toBe(rows.length)
    const etag = headers.get('etag')
    const uncoded = await app.request(address)
    expect(uncoded.headers.get('etag')).toBe(etag)
    expect(Buffer.from(await uncoded.arrayBuffer()).equals(body)).toBe(true)
    expect((await app.request(address, { headers: { 'if-none-match': etag! } })).status).toBe(304)
  },
)

test.each([
  [
    '/v1/strategies/ash/stats?format=parquet',
    'is no parameter of this route, which takes risk_pct, dataset_version',
  ],
  ['/v1/dataset/versions?format=parquet', 'must be one of json, csv'],
  ['/v1/strategies/ash/curve?format=xlsx', 'must be one of json, csv, arrow, parquet'],
])('the request %s is refused, and the refusal names what there is', async (address, reason) => {
  const response = await app.request(address)
  expect(response.status).toBe(422)
  expect(await response.text()).toContain(`"reason":"${reason}"`)
})
