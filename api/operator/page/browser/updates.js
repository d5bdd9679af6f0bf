// Follows what happens: the page is asked for again, and its content shown if it differs. Nothing is replaced while somebody
// types, or is about to click.
const EVERY_MS = 5000
const main = document.querySelector('main')
let shown = main.innerHTML
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
const look = async () => {
  const response = await fetch(location.href, { redirect: 'manual' })
  if (isInUse()) return
  if (response.type === 'opaqueredirect') location.reload() // the session is over
  if (!response.ok) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const newest = page.querySelector('main').innerHTML
  if (newest === shown) return
  main.innerHTML = newest
  shown = newest
}
const again = () =>
  setTimeout(() => (document.hidden ? again() : look().catch(() => {}).then(again)), EVERY_MS)
again()
