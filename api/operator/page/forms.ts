// The forms of the operator's page, as far as they are his.
import { mayUse, missingScope, type Operator } from '#signals/operators/tokens.ts'
import { createForms } from '../../service/page/forms.ts'
import type { Session as PageSession } from '../../service/page/layout.ts'
import type { OperatorRoute } from '../operator-route.ts'
import { OPERATOR_ROUTES } from '../routes.ts'

export type Session = PageSession<Operator> & { readonly served: ReadonlySet<string> }

/** A strategy that fires may be chosen among those that the token may fire. */
export const OPERATOR_FORMS = createForms<OperatorRoute, Session>(OPERATOR_ROUTES, {
  pathOf: (path, below) => `/ops/view${below}${path.slice('/ops'.length)}`,
  isOffered: ({ who }, { scope }) => mayUse(who, scope),
  choicesOf: ({ who, served }, { scope }, field) =>
    field === 'alias'
      ? [...served].filter(alias => missingScope(who, scope, alias) === null).sort()
      : undefined,
})

export const { forms: FORMS, offers } = OPERATOR_FORMS
