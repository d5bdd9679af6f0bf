// `from` and `to` of /v1/export as a client sees them: addresses, pins, file names, refusals.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { FORMATS } from '#core/contract/parameters.ts'
import { openHistoryApp } from '../../support/history/history-app.ts'
import { type App, errorOf } from './answers.ts'

let app: App
beforeAll(async () => {
  ;({ app } = await openHistoryApp(inject('tinyStore')))
})

const PIN = '/v1/snapshots/20250224T001500Z/export'

describe.each(FORMATS)('a range of the export as %s', format => {
  const asked = `/v1/export?to=2024-11-30&period=daily&from=2024-03-02&format=${format}`
  const canonical = `?${format === 'json' ? '' : `format=${format}&`}from=2024-03-02&to=2024-11-30`

  test('has its canonical address, which its pinned twin shares, and the same bytes there', async () => {
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
    if (format !== 'json') return
    expect(JSON.parse(bytes.toString())).toMatchObject({ links: { self: `/v1/export${canonical}` } })
  })

  test('is named after its range', async () => {
    const name = (await app.request(asked)).headers.get('content-disposition')
    expect(name).toBe(
      format === 'json'
        ? null
        : `attachment; filename="all-export-daily-from-2024-03-02-to-2024-11-30-20250224T001500Z.${format}"`,
    )
  })

  test('without data answers 200 and no rows', async () => {
    const response = await app.request(`/v1/export?from=1990-01-01&to=1990-12-31&format=${format}`)
    expect(response.status).toBe(200)
    if (format === 'json') expect(await response.json()).toMatchObject({ data: { rows: [] } })
    if (format === 'csv') expect((await response.text()).split('\r\n')).toHaveLength(2)
  })

  test('from a day after its end is refused', async () => {
    const response = await app.request(`/v1/export?from=2024-12-01&to=2024-11-30&format=${format}`)
    expect(response.status).toBe(422)
    expect(await errorOf(response)).toMatchObject({ code: 'validation_error', details: [{ param: 'from' }] })
  })
})
