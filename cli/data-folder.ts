import { join } from 'node:path'

/** Where a checkout keeps what it makes by itself: the sample book and its stores. */
export const dataFolder = (root: string): string => join(root, '.data')
