// `from` and `to` of /v1/export as a client sees them: addresses, pins, file names, refusals.
import { expect, test } from 'vitest'
import { FORMATS } from '#core/contract/parameters.ts'
import { errorOf, openTiny } from './answers.ts'

const { app } = await openTiny()

const PIN = '/v1/snapshots/20250224T001500Z/export'

test.each(FORMATS)(
  'a range of the export as %s has one canonical address, and its own file name',
  async format => {
    const asked = `/v1/export?to=2024-11-30&period=daily&from=2024-03-02&format=${format}`
    const canonical = `?${format === 'json' ? '' : `format=${format}&`}from=2024-03-02&to=2024-11-30`
    const response = await app.request(asked)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-location')).toBe(PIN + canonical)
    const bytes = Buffer.from(await response.arrayBuffer())
    for (const address of [
      `/v1/export${canonical}`,
      PIN + canonical,
      `${asked}&dataset_version=2025-02-24T00:15:00Z`,
    ]) {
      const again = await app.request(address)
      expect(Buffer.from(await again.arrayBuffer()).equals(bytes), address).toBe(true)
    }
    if (format === 'json')
      expect(JSON.parse(bytes.toString())).toMatchObject({ links: { self: `/v1/export${canonical}` } })
    const name = response.headers.get('content-disposition')
    expect(name).toBe(
      format === 'json'
        ? null
        : `attachment; filename="all-export-daily-from-2024-03-02-to-2024-11-30-20250224T001500Z.${format}"`,
    )
  },
)

test.each(FORMATS)(
  'a range of the export as %s may be empty, and must not end before it begins',
  async format => {
    const response = await app.request(`/v1/export?from=1990-01-01&to=1990-12-31&format=${format}`)
    expect(response.status).toBe(200)
    if (format === 'json') expect(await response.json()).toMatchObject({ data: { rows: [] } })
    if (format === 'csv') expect((await response.text()).split('\r\n')).toHaveLength(2)
    const refused = await app.request(`/v1/export?from=2024-12-01&to=2024-11-30&format=${format}`)
    expect(refused.status).toBe(422)
    expect(await errorOf(refused)).toMatchObject({ code: 'validation_error', details: [{ param: 'from' }] })
  },
)
