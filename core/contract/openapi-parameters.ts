// The parameters of the OpenAPI document: of the table, of paths, and the pins.
import { FILE_VARIABLES, type FileVariable } from './file-routes.ts'
import type { Schema } from './openapi-schema.ts'
import { FORMATS, PERIODS, type QueryName, SMALLEST_RISK_PCT } from './parameters.ts'
import { AS_OF_PARAMETER, PIN_PARAMETER } from './pins.ts'
import type { Route } from './route.ts'

export const SID: Schema = {
  name: 'sid',
  in: 'path',
  required: true,
  description: 'Id of the strategy.',
  schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' },
}

const QUERY: { readonly [Name in Exclude<QueryName, 'format'>]: Schema } = {
  period: {
    description: 'Period of the returns; weeks are complete ISO weeks.',
    schema: { type: 'string', enum: PERIODS, default: 'daily' },
  },
  risk_pct: {
    description:
      'Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by ' +
      '`risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. ' +
      'A level at which a figure would pass what a number can hold is refused.',
    schema: { type: 'number', minimum: SMALLEST_RISK_PCT },
  },
  from: { description: 'First day, inclusive.', schema: { type: 'string', format: 'date' } },
  to: { description: 'Last day, inclusive.', schema: { type: 'string', format: 'date' } },
  ids: {
    description: 'Strategies of the matrix, in the order wanted: separated by commas, or as repeated keys.',
    schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
    style: 'form',
    explode: false,
  },
}

/** A parameter of the query as a route knows it. */
export const toParameter = (name: QueryName, { formats }: Route): Schema => ({
  name,
  in: 'query',
  required: false,
  ...(name === 'format'
    ? {
        description: 'Every format but `json` answers the rows alone, without the envelope.',
        schema: { type: 'string', enum: FORMATS.filter(format => formats.includes(format)), default: 'json' },
      }
    : QUERY[name]),
})

const ABOUT_VARIABLES: { readonly [Name in FileVariable]: string } = {
  version: 'Compact form of a dataset version: `20261121T001500Z`.',
  seq: 'Number of the entry, ten digits.',
  sha256: 'SHA-256 of the bytes of the entry, hexadecimal.',
}

/** The variable of a path of proofs. */
export const toVariable = (name: FileVariable): Schema => ({
  name,
  in: 'path',
  required: true,
  description: ABOUT_VARIABLES[name],
  schema: { type: 'string', pattern: FILE_VARIABLES[name].source },
})

export const PIN: Schema = {
  name: PIN_PARAMETER,
  in: 'query',
  required: false,
  description: 'The dataset version to answer from; without it the one that is served now.',
  schema: { type: 'string', format: 'date-time' },
}

export const AS_OF: Schema = {
  name: AS_OF_PARAMETER,
  in: 'query',
  required: false,
  description: 'A day: leads to the dataset of the version that was served at its end (UTC).',
  schema: { type: 'string', format: 'date' },
}
