// Follows what happens: the page is asked for again, and its content shown if it differs. Nothing is replaced while somebody
// types, or is about to click.
const EVERY_MS = 3000
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
  const response = await fetch(location.href, { redirect: 'error' }) // a session that is over is redirected
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const newest = page.querySelector('main').innerHTML
  if (!response.ok || newest === shown || isInUse()) return
  main.innerHTML = newest
  shown = newest
}
const again = () =>
  setTimeout(
    () =>
      document.hidden
        ? again()
        : look()
            .catch(() => {})
            .then(again),
    EVERY_MS,
  )
again()
