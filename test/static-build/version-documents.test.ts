// The descriptor of a version, checked against the rules of the Data Package standard, version 2, which are written down here:
// https://datapackage.org/standard/data-package, data-resource, table-schema and table-dialect.

import { beforeAll, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { versionFolder } from '#core/contract/artifacts.ts'
import type { Manifest } from '#core/contract/manifest.ts'
import { dataPackage, sha256Sums } from '#static-build/version-documents.ts'
import { sha256 } from '#storage/digest.ts'
import type { ObjectStore } from '#storage/object-store.ts'
import { openStore } from '#storage/open-store.ts'
import { BINARY_FORMATS, readTable } from '#test/core/dataset/resources/read-columns.ts'
import { handSnapshot } from '#test/support/books/hand-snapshot.ts'
import { TINY_VERSION } from '#test/support/books/publish-book.ts'
import { bytesOf, manifestOf } from '#test/support/stores/stored-bytes.ts'
import { textAt } from './tree.ts'

/** "only of lowercase English alphanumeric characters plus `.`, `-` and `_`". */
const name = z.string().regex(/^[a-z0-9._-]+$/)

/** A relative POSIX path: no leading slash, dot or tilde, nothing that climbs, no backslash, no scheme. */
const path = z
  .string()
  .regex(/^[^./~\\][^\\]*$/)
  .refine(text => !text.split('/').includes('..') && !text.includes('://'))

const TYPES =
  'string number integer boolean object array list datetime date time year yearmonth duration geopoint geojson any'.split(
    ' ',
  )

const field = z.looseObject({
  name: z.string().min(1),
  type: z.enum(TYPES),
  description: z.string().optional(),
  constraints: z
    .strictObject({ required: z.boolean().optional(), enum: z.array(z.string()).nonempty().optional() })
    .optional(),
  unit: z.string().optional(), // an additional property
})

const tableSchema = z
  .strictObject({
    $schema: z.literal('https://datapackage.org/profiles/2.0/tableschema.json'),
    fields: z.array(field).nonempty(),
    missingValues: z.array(z.string()).optional(),
    primaryKey: z.array(z.string()).nonempty().optional(),
  })
  .refine(({ fields }) => new Set(fields.map(each => each.name)).size === fields.length, 'names repeat')
  .refine(({ fields, primaryKey = [] }) => primaryKey.every(key => fields.some(each => each.name === key)))

const resource = z
  .strictObject({
    name,
    path, // and no `data`: exactly one of the two
    title: z.string().optional(),
    description: z.string().optional(),
    format: z.string().regex(/^[a-z]+$/),
    mediatype: z.string().regex(/^[^/;]+\/[^/;]+$/),
    encoding: z.literal('utf-8').optional(),
    bytes: z.int().nonnegative(),
    hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    type: z.literal('table').optional(),
    dialect: z
      .strictObject({ delimiter: z.string(), lineTerminator: z.string(), header: z.boolean() })
      .optional(),
    schema: tableSchema.optional(),
  })
  .refine(({ type, schema, dialect }) => type === 'table' || (schema === undefined && dialect === undefined))

const descriptor = z
  .strictObject({
    $schema: z.literal('https://datapackage.org/profiles/2.0/datapackage.json'),
    name,
    title: z.string(),
    description: z.string(),
    version: z.string(),
    created: z.iso.datetime(),
    homepage: z.url().optional(),
    // "The object MUST contain a name property and/or a path property": an id of a licence, and an address.
    licenses: z
      .array(z.strictObject({ name: z.string(), path: z.url().optional(), title: z.string().optional() }))
      .nonempty()
      .optional(),
    sources: z.array(z.strictObject({ title: z.string() })).nonempty(),
    resources: z.array(resource).nonempty(),
  })
  .refine(({ resources }) => new Set(resources.map(each => each.name)).size === resources.length)

/** The data package of a version, which follows the standard. */
const describing = (of: Manifest, snapshot = SNAPSHOT) =>
  descriptor.parse(JSON.parse(JSON.stringify(dataPackage(of, snapshot))))

const SNAPSHOT = handSnapshot([{ id: 's', returns: [0.01] }])

let store: ObjectStore
let manifest: Manifest
let described: ReturnType<typeof describing>

beforeAll(async () => {
  store = await openStore(inject('tinyStore').url)
  manifest = await manifestOf(store, TINY_VERSION)
  described = describing(manifest)
})

/** The key of a file of the version. */
const keyOf = (relative: string): string => `${versionFolder(TINY_VERSION)}/${relative}`

const tables = (format: string) =>
  described.resources.filter(each => each.format === format && each.type === 'table')

test('the data package of a version has a resource for every artifact, with its true length and digest', async () => {
  expect(described.resources.length).toBe(manifest.artifacts.length)
  for (const { path: relative, bytes, hash } of described.resources) {
    const there = await bytesOf(store, keyOf(relative))
    expect([relative, bytes, hash]).toEqual([relative, there.length, `sha256:${sha256(there)}`])
  }
})

test('the data package of a version describes every CSV: its columns in their order, and cells that its types and constraints allow', async () => {
  expect(tables('csv').length).toBeGreaterThan(10)
  for (const { path: relative, schema } of tables('csv')) {
    const [header = '', ...rows] = (await textAt(store, keyOf(relative))).split('\r\n').slice(0, -1)
    const fields = schema!.fields
    expect([relative, header]).toEqual([relative, fields.map(each => each.name).join(',')])
    const cells = rows.map(row => row.split(','))
    for (const [i, each] of fields.entries()) {
      const unfit = cells.filter(row => !fits(row[i]!, each))
      expect([relative, each.name, unfit]).toEqual([relative, each.name, []])
    }
  }
})

test.each(BINARY_FORMATS)(
  'the data package of a version gives the columns of every %s file the names and types that they have',
  async format => {
    expect(tables(format).length).toBeGreaterThan(4)
    for (const { path: relative, schema } of tables(format)) {
      const bytes = await bytesOf(store, keyOf(relative))
      const { header, types } = readTable(format, bytes)
      const fields = schema!.fields.map(({ name, type }) => [name, type])
      expect([relative, fields]).toEqual([relative, header.map((name, i) => [name, TYPE_OF[types[i]!]])])
    }
  },
)

test('the data package of a version calls every CSV, Arrow and Parquet file a table and no other, as JSON rows stand in an envelope, and gives a unit to every number and to nothing else', () => {
  const tables = ['csv', 'arrow', 'parquet']
  for (const { schema, path: relative, type: kind, format } of described.resources) {
    expect(kind === 'table', relative).toBe(tables.includes(format))
    for (const { name: column, type, unit } of schema?.fields ?? []) {
      const isNumber = type === 'number' || type === 'integer'
      expect([relative, column, unit !== undefined]).toEqual([relative, column, isNumber])
    }
  }
})

test('the data package of a version names the terms, each source once, and the licence and the address that the catalogue declares', () => {
  const [first] = SNAPSHOT.strategies
  const strategies = [first!, { ...first!, data_source: 'a broker' }]
  const plain = describing(manifest, { ...SNAPSHOT, strategies })
  expect(plain.description).toContain(` ${SNAPSHOT.dataset.disclaimer}`)
  expect(plain.sources).toEqual([{ title: 'made by hand' }, { title: 'a broker' }])
  expect([plain.licenses, plain.homepage]).toEqual([undefined, undefined])
  const declared = { name: 'CC-BY-4.0', path: 'https://creativecommons.org/licenses/by/4.0/' }
  const terms = { licence: { ...declared, title: null }, public_url: 'https://d.example' }
  const { licenses, homepage } = describing(manifest, handSnapshot([{ id: 's', returns: [0.01] }], terms))
  expect([licenses, homepage]).toEqual([[declared], 'https://d.example'])
})

test('the data package of a version holds a file of a route that is not in the table, without a schema', () => {
  const [first] = manifest.artifacts
  const described = describing({ ...manifest, artifacts: [{ ...first!, key: keyOf('tomorrow.json') }] })
  expect(described.resources).toMatchObject([{ path: 'tomorrow.json', name: 'tomorrow.json' }])
})

/** The standard's name of each type that the files have. */
const TYPE_OF: Readonly<Record<string, string>> = {
  'Timestamp<MILLISECOND>': 'datetime', // a date
  'Timestamp<MILLISECOND, UTC>': 'datetime',
  Float64: 'number',
  Utf8: 'string',
}

const CELLS: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  datetime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  integer: /^-?\d+$/,
  number: /^-?\d+(\.\d+)?$/,
  string: /^.+$/,
}

/** Whether the text of a cell is of the type of its field; empty is missing, which a required field never is. */
function fits(cell: string, { type, constraints }: z.infer<typeof field>): boolean {
  if (cell === '') return constraints?.required !== true
  return CELLS[type]!.test(cell) && (constraints?.enum?.includes(cell) ?? true)
}

const NOT_LISTED = /^(manifest\.json(\.sig)?|SHA256SUMS)$/

test('SHA256SUMS lists every file of the version but the manifest and itself, once, as sha256sum prints it in its folder', async () => {
  const prefix = keyOf('')
  const files = (await store.list(prefix)).map(key => key.slice(prefix.length))
  const listed = files.filter(file => !NOT_LISTED.test(file))
  const lines = listed.map(async file => `${sha256(await bytesOf(store, keyOf(file)))}  ${file}\n`)
  const { SHA256SUMS: _, ...documents } = manifest.documents
  expect(sha256Sums({ ...manifest, documents })).toBe((await Promise.all(lines)).join(''))
})

test('SHA256SUMS is refused for a manifest that names files outside the folder of its version', async () => {
  const [first] = manifest.artifacts
  const artifacts = [{ ...first!, key: 'v1/snapshots/20000101T000000Z/summary.json' }]
  expect(() => sha256Sums({ ...manifest, artifacts })).toThrow(/is not in the folder/)
})
