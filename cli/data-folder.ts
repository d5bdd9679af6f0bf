import { join, resolve } from 'node:path'

/** Where stores, generated secrets and a Redis of our own lie, unless the environment names other places. */
export const dataFolder = (root: string, { DATA_FOLDER }: NodeJS.ProcessEnv): string =>
  DATA_FOLDER ? resolve(DATA_FOLDER) : join(root, '.data')
