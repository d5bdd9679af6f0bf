import { declare, type Kind } from './format.ts'
import { TRADES } from './trade-formats.ts'

/** Tables of daily returns. */
export const RETURNS: Kind = {
  noun: 'daily returns',
  roles: {
    t: 't date day time datetime timestamp',
    ret: 'ret return returns dailyreturn dailyreturns return% returnpct',
  },
  checked: {},
  required: ['t', 'ret'],
  formats: [
    declare('highwater', 't: t; ret: ret'),
    declare('pandas', '|date|index|unnamed:0: t; 0|ret|returns?: ret'),
    declare('date and return', 't; ret'),
  ],
  fits: () => true,
  matters: TRADES.matters,
}
