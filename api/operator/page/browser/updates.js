// Nothing is replaced while somebody types, or is about to click. Without a stream the page is loaded again.
const RELOAD_MS = 15000
const main = document.querySelector('main')
const isEdited = field => field.value !== field.defaultValue || field.checked !== field.defaultChecked
const isChosen = ({ options, selectedIndex }) =>
  selectedIndex !==
  Math.max(
    0,
    [...options].findIndex(option => option.defaultSelected),
  )
const isInUse = () =>
  main.querySelector('details[open]') !== null ||
  (main.contains(document.activeElement) &&
    document.activeElement.matches('input, select, button, summary, a')) ||
  [...main.querySelectorAll('input')].some(isEdited) ||
  [...main.querySelectorAll('select')].some(isChosen)
const reloadLater = () => setTimeout(() => (isInUse() ? reloadLater() : location.reload()), RELOAD_MS)
const source = new EventSource(location.href)
let newest = null
const show = () => {
  if (newest === null || isInUse()) return
  main.innerHTML = newest
  newest = null
}
source.addEventListener('content', event => {
  newest = event.data
  show()
})
setInterval(show, 1000)
source.addEventListener('error', () => {
  if (source.readyState === EventSource.CLOSED) reloadLater()
})
