// Names of the public objects of sealed signals; `storage/seals/` has what they hold.

export const SEALS_PREFIX = 'v1/seals/'

/** A number of a seal in keys, paths and seals: nine digits. */
export const sealNumber = (n: number): string => String(n).padStart(9, '0')

/** `v1/seals/000000042`: a seal, written once. */
export const sealKey = (n: number): string => `${SEALS_PREFIX}${sealNumber(n)}`

/** The newest seal, replaced by each. */
export const SEAL_HEAD_KEY = `${SEALS_PREFIX}head`
export const SEAL_HEAD_CACHING = 'max-age=30'

/** The seals of a UTC day in one file, written once when the day is over; single ones but the first can be removed then. */
export const sealDayKey = (date: string): string => `${SEALS_PREFIX}days/${date}`

/** What was sealed on a UTC day, written once when the embargo is over. */
export const openingKey = (date: string): string => `${SEALS_PREFIX}openings/${date}.jsonl`

/** The time stamp of a seal, of an authority. */
export const sealAnchorKey = (n: number): string => `${SEALS_PREFIX}anchors/${sealNumber(n)}`

/** The public key of an origin by its id, PEM. */
export const sealKeyKey = (id: string): string => `${SEALS_PREFIX}keys/${id}.pem`
