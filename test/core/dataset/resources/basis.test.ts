// An answer says how its figures came about: by a replay or from a ledger, as reported, or both.
import { expect, test } from 'vitest'
import { handSnapshot } from '../../../support/books/hand-snapshot.ts'
import { readCorrelation, readExport, readReturns, readStats, readSummary } from './evaluate.ts'

const returns = [0.01, -0.02, 0.03]
const oak = { id: 'oak', returns, marking: 'marked' as const }
const elm = { id: 'elm', returns, marking: 'realised' as const }
const yew = { id: 'yew', returns, marking: 'reported' as const }
const book = handSnapshot([oak, elm, yew])

test('the basis of a strategy is that of its history, at every risk level', () => {
  expect(readReturns(book, { sid: 'oak' }).meta.basis).toBe('backtested')
  expect(readReturns(book, { sid: 'elm' }).meta.basis).toBe('backtested')
  expect(readReturns(book, { sid: 'yew' }).meta.basis).toBe('reported')
  expect(readStats(book, { sid: 'yew', risk_pct: 0.05 }).meta.basis).toBe('reported')
})

test('the basis of several strategies is mixed if they differ', () => {
  expect(readSummary(book).meta.basis).toBe('mixed')
  expect(readCorrelation(book, { ids: ['oak', 'elm'] }).meta.basis).toBe('backtested')
  expect(readExport(book, { ids: ['yew'] }).meta.basis).toBe('reported')
  expect(readExport(book, { ids: ['oak', 'yew'] }).meta.basis).toBe('mixed')
})
