declare module 'lz4js' {
  export function decompress(frame: Uint8Array, maxSize?: number): Uint8Array
  export function compress(bytes: Uint8Array): Uint8Array
  /** Returns the index in `to` behind what was written. */
  export function decompressBlock(
    from: Uint8Array,
    to: Uint8Array,
    start: number,
    length: number,
    into: number,
  ): number
}
