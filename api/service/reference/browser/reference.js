// Draws the OpenAPI document of the service that sent this page; the library is in `SwaggerUIBundle`.
const main = document.querySelector('main')
const dark = matchMedia('(prefers-color-scheme: dark)')

/** The library's dark scheme is a class. */
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followScheme)
followScheme()

/** No button for a key: it belongs into the header of a program, and never into a browser. */
const withoutKeys = () => ({
  wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null },
})

/** The example of the document, and no sample that the library would make up where there is none. */
const example = (_schema, _mediaType, _settings, given) =>
  given === undefined || typeof given === 'string' ? given : JSON.stringify(given, null, 2)

const withoutSamples = () => ({
  afterLoad({ fn }) {
    fn.getSampleSchema = example
    fn.jsonSchema202012.getSampleSchema = example
  },
  wrapComponents: {
    modelExample:
      (Tabs, { React }) =>
      properties =>
        React.createElement(Tabs, properties.example ? properties : schemaFirst(properties)),
  },
})

/** Where there is no example the schema is what is shown. */
const schemaFirst = properties => ({
  ...properties,
  getConfigs: () => ({ ...properties.getConfigs(), defaultModelRendering: 'model' }),
})

const openApi = await (await fetch(main.dataset.document)).json()

/** The values of path variables that exist in the version that is served: what is tried with them has an answer. */
async function findExamples({ catalogue }) {
  const response = catalogue === undefined ? null : await fetch(catalogue)
  if (!response?.ok) return {}
  const { data, meta } = await response.json()
  return { sid: data[0]?.id, version: meta.dataset_version.replaceAll(/[-:]/g, '') }
}

const examples = await findExamples(main.dataset)
for (const { get } of Object.values(openApi.paths))
  for (const parameter of get?.parameters ?? [])
    if (parameter.in === 'path' && examples[parameter.name] !== undefined)
      parameter.example = examples[parameter.name]

window.SwaggerUIBundle({
  // What is tried goes to where the page came from, by whichever name that was reached.
  spec: { ...openApi, servers: [{ url: location.origin }] },
  domNode: main,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  defaultModelRendering: 'example',
  showExtensions: true,
  validatorUrl: null,
  supportedSubmitMethods: main.dataset.tries.split(' ').filter(method => method !== ''),
  plugins: [withoutKeys, withoutSamples],
})
