/**
 * Raised whenever the same answer is rendered to other bytes. Computed answers carry it in their ETag, so that a
 * cache never holds a body of one revision against a validator of another.
 */
export const RENDER_REVISION = 1
