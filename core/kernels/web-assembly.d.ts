// As much of WebAssembly as the kernel of dot products needs: the types of Node leave it out, those of browsers bring
// the whole browser with them.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>)
  }
  class Instance<Exports extends object> {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>)
    readonly exports: Exports
  }
  class Memory {
    constructor(pages: { readonly initial: number })
    readonly buffer: ArrayBuffer
  }
}
