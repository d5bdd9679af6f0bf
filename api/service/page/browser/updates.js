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
    document.activeElement.matches('input, select, textarea, button, summary, a')) ||
  [...main.querySelectorAll('input, textarea')].some(isEdited) ||
  [...main.querySelectorAll('select')].some(isChosen)
/** Says since when the page is old; it is shown again by the next answer. */
const showOld = () => {
  if (shown === null) return
  shown = null
  const line = document.createElement('p')
  line.className = 'panel bad'
  line.setAttribute('role', 'alert')
  line.textContent = `Not up to date since ${new Date().toISOString().slice(11, 19)} UTC: the service does not answer.`
  main.prepend(line)
}
const look = async () => {
  const response = await fetch(location.href, { headers: { 'x-highwater-update': '1' }, redirect: 'manual' })
  if (isInUse()) return
  if (!response.ok) return location.reload() // the session is over, or the page says what is wrong
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const newest = page.querySelector('main').innerHTML
  if (newest === shown) return
  main.innerHTML = newest
  shown = newest
}
const again = () =>
  setTimeout(async () => {
    if (!document.hidden) await look().catch(showOld)
    again()
  }, EVERY_MS)
again()
