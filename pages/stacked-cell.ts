import { html } from 'hono/html'
import type { Markup } from './layout.ts'

/** A cell of a `table.stacked`, which has the name of its column before it on narrow screens. */
export const stackedCell = (title: string, text: unknown): Markup => html`<td data-of="${title}">${text}</td>`
