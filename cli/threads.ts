/** More threads than this only wait for each other. */
export const MOST_THREADS = 64

/** Threads of a build where nobody said how many: one a core. */
export const threadsFor = (cores: number): number => Math.min(cores, MOST_THREADS)
