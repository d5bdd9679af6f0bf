import { join } from 'node:path'

/** Where a checkout keeps its stores, unless the environment names others. */
export const dataFolder = (root: string): string => join(root, '.data')
