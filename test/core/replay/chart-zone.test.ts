import { expect, test } from 'vitest'
import { instantsOf, isZone } from '#core/replay/chart-zone.ts'

const instantOf = (zone: string, shown: string): string =>
  new Date(instantsOf(zone)(Date.parse(`${shown}Z`))).toISOString().slice(0, 16)

test.each([
  ['Etc/UTC', '2026-03-08T02:30', '2026-03-08T02:30'],
  ['America/New_York', '2026-01-15T08:00', '2026-01-15T13:00'],
  ['America/New_York', '2026-07-15T08:00', '2026-07-15T12:00'],
  ['America/New_York', '2026-03-08T01:59', '2026-03-08T06:59'],
  ['America/New_York', '2026-03-08T03:00', '2026-03-08T07:00'],
  ['America/New_York', '2026-11-01T00:59', '2026-11-01T04:59'],
  ['America/New_York', '2026-11-01T02:00', '2026-11-01T07:00'],
  ['Australia/Lord_Howe', '2026-01-15T08:00', '2026-01-14T21:00'],
  ['Australia/Lord_Howe', '2026-07-15T08:00', '2026-07-14T21:30'],
  ['Asia/Kathmandu', '2026-07-15T05:45', '2026-07-15T00:00'],
])('a chart in %s that shows %s shows the instant %s', (zone, shown, instant) => {
  expect(instantOf(zone, shown)).toBe(instant)
})

test('a time that the clock shows twice is the first, and one that it skips is read by the old clock', () => {
  expect(instantOf('America/New_York', '2026-11-01T01:30')).toBe('2026-11-01T05:30')
  expect(instantOf('America/New_York', '2026-03-08T02:30')).toBe('2026-03-08T07:30')
})

test('a zone is known by its name in the IANA database', () => {
  expect(['Europe/London', 'UTC', 'New York', ''].map(isZone)).toEqual([true, true, false, false])
})
