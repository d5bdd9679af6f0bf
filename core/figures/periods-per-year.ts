// One year is 365 days, whatever the calendar says, because the assets trade every day: the same length for CAGR,
// for the annualisation of daily ratios and for trades per year.

export const DAYS_PER_YEAR = 365
export const WEEKS_PER_YEAR = 52
export const MONTHS_PER_YEAR = 12
