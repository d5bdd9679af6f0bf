/**
 * Amounts up to this are rounding, not losses, gains or denominators: a hundred-billionth of a percent of the account.
 * A ratio to less would be noise, or not finite.
 */
export const NEGLIGIBLE = 1e-12
