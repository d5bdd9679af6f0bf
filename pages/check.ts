// How to check a version: what is published with it, the commands, and a button that checks it in the browser.
import { html } from 'hono/html'
import { toCompactInstant } from '#core/calendar.ts'
import type { Snapshot } from '#core/dataset/snapshot.ts'
import type { Markup, Page } from './layout.ts'

export const checkPage = (snapshot: Snapshot): Page => ({
  title: 'How to check this yourself',
  about: `Digests, signatures and commands with which anyone can check what ${snapshot.dataset.name} published.`,
  script: 'check.js',
  body: body(snapshot),
})

const body = ({
  dataset: { version, public_url },
  strategies,
}: Snapshot): Markup => html`<h1>How to check this yourself</h1>
<p>A version never changes. <a href="manifest.json">manifest.json</a> lists every file of this one with its length and its SHA-256 digest. An
entry of the append-only log under <code>/v1/pointer/</code> has the digest of the manifest and that of the entry before it.
If the publisher signs, <code>manifest.json.sig</code> and a signature of the entry are Ed25519 signatures by
a key of the list at <code>/.well-known/highwater-keys.json</code>.</p>
<section aria-labelledby="here"><h2 id="here">In this browser</h2>
<p data-without-script>This check needs a script. The commands below check the same, and more.</p>
<form id="check" data-with-script>
<label>Files <select name="of"><option value="">of the book</option>${strategies.map(
  ({ id, name }) => html`<option value="${id}">of ${name}</option>`,
)}</select></label>
<button>Check</button>
</form>
<div role="log" aria-label="Findings"><ol id="findings"></ol></div>
</section>
<section aria-labelledby="command"><h2 id="command">With one command</h2>
<pre tabindex="0"><code>highwater verify-remote ${public_url ?? EXAMPLE} --version ${version} --key publisher.pem</code></pre>
<p>It checks the log, its time, the signatures and all files. <code>publisher.pem</code> is the key of the publisher; the next
section shows how to get it. <code>highwater verify-live</code> checks what is sealed of live trading.</p></section>
<section aria-labelledby="hand"><h2 id="hand">By hand</h2>
${public_url === null ? html`<p>Replace the address by that of this service.</p>` : ''}
<p>If the version is not signed, there is neither a key nor <code>manifest.json.sig</code>: leave out the lines that name them.</p>
<pre tabindex="0"><code>${commands(public_url ?? EXAMPLE, toCompactInstant(version))}</code></pre>
<p>The fourth line prints the fingerprint of the key. Compare it with the one that the publisher states elsewhere.</p></section>
<section aria-labelledby="proof"><h2 id="proof">What this proves, and what it does not</h2>
<ul>
<li>If the digests match, nothing was changed on the way or in a store since the manifest was written.</li>
<li>If the signature is valid, the holder of the key published this manifest. A key from the same service proves only that the
service agrees with itself: its fingerprint must come from somewhere else.</li>
<li>If the log is complete, no entry was removed, inserted or changed since you last saw the newest one. Keep its number and
its digest.</li>
<li>Nothing here proves that the returns are true, that everybody is shown the same log, or what is computed for a risk level or a range.</li>
<li>The check in the browser is a program of this service. It detects damage, not a publisher who intends to deceive:
<code>verify-remote</code> and the commands do not depend on this page.</li>
</ul></section>`

const EXAMPLE = 'https://data.example.org'

/** One version by hand: key, signature of the manifest, and every file against the signed digests. */
const commands = (url: string, version: string): string => `url=${url}; pinned=$url/v1/snapshots/${version}
key=$(curl -fsS $url/.well-known/highwater-keys.json | sed -n 's/.*"public_key_pem": "\\(.*\\)".*/\\1/p' | tail -n 1)
printf '%b' "$key" > publisher.pem
openssl pkey -pubin -in publisher.pem -outform DER | sha256sum
curl -fsS -O $pinned/manifest.json -O $pinned/manifest.json.sig -O $pinned/SHA256SUMS
openssl pkeyutl -verify -rawin -pubin -inkey publisher.pem -in manifest.json -sigfile manifest.json.sig
grep -c "$(sha256sum < SHA256SUMS | cut -c 1-64)" manifest.json
grep -vE '[.](br|gz)$' SHA256SUMS > files.sums
cut -c 67- files.sums | while read -r file; do curl -fsS --create-dirs -o "$file" "$pinned/$file"; done
sha256sum -c files.sums`
