// Logs in by a link. Its token is in the fragment, which no log has; the form sends it as if it had been typed.
const token = decodeURIComponent(location.hash.slice(1))
if (token !== '') {
  history.replaceState(null, '', location.pathname)
  const field = document.querySelector('#token')
  field.value = token
  field.form.requestSubmit()
}
