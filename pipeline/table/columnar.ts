import { brotliDecompressSync, gunzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { CompressionType, setCompressionCodec, tableFromIPC } from '@uwdata/flechette'
import { type Compressors, parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compress, decompress, decompressBlock } from 'lz4js'
import { attempt, refuse } from './lines.ts'

/** The codecs of Feather files; pandas and freqtrade write LZ4 by default. */
setCompressionCodec(CompressionType.LZ4_FRAME, { encode: compress, decode: bytes => decompress(bytes) })
setCompressionCodec(CompressionType.ZSTD, {
  encode: zstdCompressSync,
  decode: bytes => zstdDecompressSync(bytes),
})

/** The codecs of Parquet beside Snappy, which the library knows itself. */
const COMPRESSORS: Compressors = {
  GZIP: bytes => gunzipSync(bytes),
  BROTLI: bytes => brotliDecompressSync(bytes),
  ZSTD: bytes => zstdDecompressSync(bytes),
  LZ4_RAW: (bytes, size) => {
    const out = new Uint8Array(size)
    decompressBlock(bytes, out, 0, bytes.length, 0)
    return out
  },
}

type Rows = readonly Readonly<Record<string, unknown>>[]

/** The rows of a Parquet file as objects. A time without a zone is a text without one. */
export async function parquetRows(bytes: Uint8Array): Promise<Rows> {
  const file = Uint8Array.from(bytes).buffer // of its own: that of a Buffer may be shared
  const schema = attempt('a Parquet file', () => parquetMetadata(file).schema)
  const local = schema.filter(({ logical_type: type }) => type?.type === 'TIMESTAMP' && !type.isAdjustedToUTC)
  const decimals = schema.filter(({ converted_type }) => converted_type === 'DECIMAL')
  try {
    const rows = await parquetReadObjects({ file, compressors: COMPRESSORS })
    return converted(converted(rows, local, toLocal), decimals, toDecimal)
  } catch (error) {
    refuse(`expected a whole Parquet file, got another thing (${String(error)})`)
  }
}

/** The rows of an Arrow file, such as Feather, as objects. A time without a zone is a text without one. */
export const arrowRows = (bytes: Uint8Array): Rows =>
  attempt('an Arrow file', () => {
    const table = tableFromIPC(bytes, { useDate: true, useBigInt: true })
    const local = table.schema.fields.filter(({ type }) => 'timezone' in type && type.timezone === null)
    return converted(table.toArray(), local, toLocal)
  })

/** The rows with the values of some columns in another form. */
function converted(
  rows: Rows,
  columns: readonly { readonly name: string }[],
  convert: (value: unknown) => unknown,
): Rows {
  if (columns.length === 0) return rows
  const valuesOf = (row: Rows[number]) => columns.map(({ name }) => [name, convert(row[name])] as const)
  return rows.map(row => ({ ...row, ...Object.fromEntries(valuesOf(row)) }))
}

/** Without the digits that the product with a power of ten adds. */
const toDecimal = (value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toPrecision(15)) : value

const toLocal = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString().replace('Z', '') : value
