import { brotliDecompressSync, gunzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { CompressionType, setCompressionCodec, tableFromIPC } from '@uwdata/flechette'
import { type Compressors, parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compress, decompress, decompressBlock } from 'lz4js'
import { attempt, UnreadableFile } from './lines.ts'

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

/** The rows of a Parquet file as objects. A time without a zone is a text without one. */
export async function parquetRows(bytes: Uint8Array): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const file = Uint8Array.from(bytes).buffer // of its own: that of a Buffer may be shared
  const schema = attempt('a Parquet file', () => parquetMetadata(file).schema)
  const local = schema.flatMap(({ name, logical_type: type }) =>
    type?.type === 'TIMESTAMP' && !type.isAdjustedToUTC ? [name] : [],
  )
  const decimals = schema.flatMap(({ name, converted_type }) => (converted_type === 'DECIMAL' ? [name] : []))
  try {
    const rows = await parquetReadObjects({ file, compressors: COMPRESSORS })
    return rows.map(row => ({
      ...row,
      ...Object.fromEntries(local.map(name => [name, toLocal(row[name])])),
      ...Object.fromEntries(decimals.map(name => [name, toDecimal(row[name])])),
    }))
  } catch (error) {
    throw new UnreadableFile(`expected a whole Parquet file, got another thing (${String(error)})`, null)
  }
}

/** The rows of an Arrow file, such as Feather, as objects. A time without a zone is a text without one. */
export function arrowRows(bytes: Uint8Array): readonly Readonly<Record<string, unknown>>[] {
  return attempt('an Arrow file', () => {
    const table = tableFromIPC(bytes, { useDate: true, useBigInt: true })
    const local = table.schema.fields.flatMap(({ name, type }) =>
      'timezone' in type && type.timezone === null ? [name] : [],
    )
    return table
      .toArray()
      .map(row => ({ ...row, ...Object.fromEntries(local.map(name => [name, toLocal(row[name])])) }))
  })
}

/** Without the digits that the product with a power of ten adds. */
const toDecimal = (value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toPrecision(15)) : value

const toLocal = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString().replace('Z', '') : value
