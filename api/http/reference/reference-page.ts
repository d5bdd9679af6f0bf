import { html } from 'hono/html'

/** A page of the interface, as a service wants it drawn. */
export type ReferencePage = {
  readonly title: string
  /** Path of the OpenAPI document. */
  readonly document: string
  /** The methods that a reader may try from the page, in small letters; none where a key is needed. */
  readonly tries: readonly string[]
  /** Links beside the one to the document: path and text. */
  readonly links: Readonly<Record<string, string>>
}

/** Nothing but the service itself, no script in the page, and no page around it. */
export const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page, whose files lie in `folder`. */
export const referencePage = ({ title, document, tries, links }: ReferencePage, folder: string): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}/swagger-ui.css">
<link rel="stylesheet" href="${folder}/reference.css">
<script defer src="${folder}/swagger-ui-bundle.js"></script>
<script type="module" src="${folder}/reference.js"></script>
</head>
<body>
<nav>
${Object.entries({ ...links, [document]: 'OpenAPI document' }).map(([path, text]) => html`<a href="${path}">${text}</a>`)}
</nav>
<noscript>This page is drawn by a script; <a href="${document}">${document}</a> says the same to a program.</noscript>
<main data-document="${document}" data-tries="${tries.join(' ')}"></main>
</body>
</html>`)
