import { historyDocument } from '#api/history/routes.ts'
import { operatorDocument } from '#api/operator/routes.ts'
import { signalsDocument } from '#api/signals/routes.ts'

/** The OpenAPI document of each service. */
export const openApiDocuments = async () => ({
  history: await historyDocument('https://data.example.org'),
  signals: signalsDocument('https://signals.example.org'),
  operator: operatorDocument(),
})
