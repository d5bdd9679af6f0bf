/** The one style sheet of the page: quiet colours, and room where something is wrong. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #14213d; --dim: #5c677d; --rule: #dfe4ec; --line: #1d6fa5; --paper: #f6f8fb;
  --card: #fff; --good: #1b7f4b; --warn: #a15c00; --bad: #b3261e; --shade: #14213d59 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf5; --dim: #94a0b8; --rule: #2c364a; --line: #6cb6e8; --paper: #10151f; --card: #171e2b;
    --good: #5ac58d; --warn: #e0a24a; --bad: #f2877f; --shade: #0009 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .6rem 1.5rem;
  background: var(--card); border-bottom: 1px solid var(--rule) }
header form { margin-left: auto }
.brand { color: var(--ink); font-weight: 650 }
.brand span, h1 span, h2 span { color: var(--dim); font-weight: 400 }
h2 span { font-size: .87rem }
.refusal::first-letter { text-transform: uppercase }
nav { display: flex; gap: 1.1rem }
nav a { padding: .3rem 0; color: var(--dim) }
nav a[aria-current] { color: var(--ink); box-shadow: 0 2px var(--line) }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem }
h1 { margin: .25rem 0 1rem; font-size: 1.45rem; overflow-wrap: anywhere }
h2 { margin: 2rem 0 .6rem; font-size: 1.05rem }
a { color: var(--line); text-decoration: none }
a:hover { text-decoration: underline }
code { font-size: .92em; overflow-wrap: anywhere }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .75rem; margin: 0 }
.cards div, .panel { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: .75rem 1rem }
.cards dt { color: var(--dim); font-size: .82rem }
.cards dd { margin: .1rem 0 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.cards dd small { display: block; color: var(--dim); font-size: .8rem }
.scroll { overflow-x: auto; background: linear-gradient(to right, var(--card) 2rem, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--card) 2rem, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / 1rem 100% no-repeat,
  linear-gradient(to left, var(--shade), transparent) right / 1rem 100% no-repeat, var(--card); border: 1px solid var(--rule); border-radius: 8px }
table { width: 100%; border-collapse: collapse }
th, td { padding: .5rem .9rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--rule) }
tr:last-child td { border-bottom: 0 }
th { color: var(--dim); font-size: .8rem; font-weight: 600 }
td.wide { white-space: normal; min-width: 24rem; overflow-wrap: anywhere }
th.n:first-child { width: 5.5rem }
.n { text-align: right; font-variant-numeric: tabular-nums }
.good { color: var(--good) } .warn { color: var(--warn) } .bad { color: var(--bad) } .dim { color: var(--dim) }
.note { padding: .6rem 1rem; border-left: 3px solid var(--good); background: var(--card) }
.empty { margin: 0; padding: .9rem 1rem; color: var(--dim) }
.actions { display: flex; flex-wrap: wrap; gap: .6rem; margin: .75rem 0 0 }
form { margin: 0; display: flex; gap: .4rem; align-items: center }
button { padding: .35rem .85rem; border: 1px solid var(--line); border-radius: 6px; background: var(--line); color: var(--card);
  font: inherit; cursor: pointer }
button.quiet { background: transparent; color: var(--line); border-color: var(--rule) }
button.stop { background: transparent; color: var(--bad); border-color: var(--bad) }
button:focus-visible, a:focus-visible, .scroll:focus-visible, input:focus-visible { outline: 2px solid var(--line); outline-offset: 2px }
input { padding: .35rem .6rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--paper); color: var(--ink);
  font: inherit; max-width: 100% }
input[type=number] { width: 8.5rem }
.login { max-width: 24rem; padding-top: 12vh }
.login form { display: grid; gap: .6rem; align-items: stretch }
.login p { margin: .4rem 0 }
.login form + p { margin-top: 1rem }
@media (max-width: 40rem) {
  header { padding: .6rem 1rem }
  nav { order: 3; width: 100%; gap: 1rem; overflow-x: auto; padding-bottom: 2px }
  main { padding: 1rem }
  .cards { grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)) }
  th, td { padding: .5rem .55rem }
  th.n:first-child { width: auto }
}
`
