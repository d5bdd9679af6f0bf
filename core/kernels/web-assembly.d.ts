// The types of WebAssembly that the kernels need: those of Node do not include them, and those of browsers
// declare the whole browser.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>)
  }
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>)
    readonly exports: Readonly<Record<string, unknown>>
  }
  class Memory {
    constructor(pages: { readonly initial: number })
    readonly buffer: ArrayBuffer
  }
}
