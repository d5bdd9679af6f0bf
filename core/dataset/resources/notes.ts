// The sentences on method that answers carry. One place, because they are part of the contract.

const RISK_UNIT = 'risk_pct is a fraction: 0.02 = 2 % of equity per trade.'

export const RETURNS_NOTE = `Simple returns of UTC days, or of complete ISO weeks dated by their Sunday; at another risk level every base return is multiplied by risk_pct / base_risk_pct. ${RISK_UNIT}`

export const CURVE_NOTE = `Equity at the end of each UTC day, 1.0 at the close before the first; at another risk level it is compounded from the rescaled daily returns and stays 0 after a ruin. ${RISK_UNIT}`

export const TRADES_NOTE =
  'Outcomes of closed trades. return_pct is the return per unit of notional after all costs, or after commission alone where the ledger tells no more; result is the sign of what the trade did to the equity. Times are epoch milliseconds UTC. The trade that is still open is in the returns and the curve, not here.'

export const STATS_NOTE = `fund_dd is always at base risk. At another risk level net return, CAGR, drawdown and time under water come from the recompounded curve, so that they agree with each other and with its last point. ${RISK_UNIT}`

export const TIME_UNDERWATER_FOOTNOTE =
  'Counts the days whose equity is strictly below the highest equity before them; the opening equity of 1.0 is a peak.'

export const correlationNote = (undefinedPairs: number): string =>
  'Pearson correlation of base-risk returns, pairwise over the dates that both strategies have; the risk level does not change it.' +
  undefinedSentence(undefinedPairs)

export const exportNote = (undefinedPairs: number, isCut: boolean): string =>
  `A strategy has no value before its inception and after its end. The correlation matrix is that of base-risk returns${isCut ? ' over the whole history: from and to cut the rows alone' : ''}.${undefinedSentence(undefinedPairs)} ${RISK_UNIT}`

const undefinedSentence = (pairs: number): string =>
  pairs === 0
    ? ''
    : ` ${pairs === 1 ? '1 pair is' : `${pairs} pairs are`} undefined: 0 in the matrix and listed in undefined_pairs.`
