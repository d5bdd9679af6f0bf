// `make deploy`: writes the configuration files that are made from the contract.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { madeFiles } from './files.ts'

for (const { path, text } of madeFiles()) await writeFile(join(import.meta.dirname, path), text)
