import { html } from 'hono/html'
import { type Guide, type GuideFacts, snippets } from './guide.ts'

export const webhooks: Guide = {
  name: 'webhooks',
  title: 'Webhooks in ten minutes',
  about: 'Receive signed live signals, and miss none.',
  body: facts => html`<p class="lead">The signals service pushes each signal to your address within a second after a strategy fires, and keeps it in a log that you can
pull. The operator of the service gives you a key; it belongs on your server, never into a page or a repository.</p>
${facts.signals === null ? html`<p class="note">Replace <code>${addressOf(facts)}</code> by the address of the signals service, which the operator gives you with the key.</p>` : ''}
<h2>1. Try the key, make a secret</h2>
<p>Deliveries are signed with a secret of your own, so that you know who sent them.</p>
${snippets(
  'key',
  {
    sh: `export HIGHWATER_KEY=hw_live_your_key
export WEBHOOK_SECRET=whsec_$(openssl rand -base64 32)
curl -fsS -H "X-API-Key: $HIGHWATER_KEY" '${addressOf(facts)}/v1/whoami' | jq -r .status`,
  },
  'active',
)}
<h2>2. Start a receiver</h2>
<p>It verifies the raw bytes, answers 2xx at once and works afterwards. Put it behind your web server at a public <code>https</code> address. This is the line
of a first signal:</p>
${snippets('receive', RECEIVERS, firstSignal(facts))}
<h2>3. Register the address</h2>
<p>A signed test is sent at once. The address is registered only if your receiver answers it with 2xx.</p>
${snippets(
  'register',
  {
    sh: `curl -fsS -X PUT -H "X-API-Key: $HIGHWATER_KEY" -H 'Content-Type: application/json' \\
  -d "{\\"url\\": \\"https://hooks.example.org/signals\\", \\"secret\\": \\"$WEBHOOK_SECRET\\"}" '${addressOf(facts)}/v1/webhook' | jq -r .data.host`,
  },
  'hooks.example.org',
)}
<h2>4. Pull what a push missed</h2>
<p>Delivery is at least once, and a receiver may be down. So pull when it starts, every minute, and whenever <code>X-Prev-Seq</code> of a push is above the last number
that you processed. Process each <code>signal_id</code> once. After the first signal:</p>
${snippets('pull', pulls(facts), firstSignal(facts))}
<h2>Before real money</h2>
<p>An entry that comes late is another trade: an endpoint can let entries expire (<code>expire_entries_after_s</code>), which are then not pushed and stay in the
pull. A <code>flat</code> never expires.</p>
<p>Trade only <code>mode: "LIVE"</code> with <code>is_test: false</code>, and keep on disk which signals are done. <code>examples/receivers</code> of Highwater has complete receivers
in Python and TypeScript that do all of this, and <code>docs/subscribing.md</code> explains sizes, retries and the change of a secret. The signals service has its
own reference at ${facts.signals === null ? html`<code>/docs</code>` : html`<a href="${facts.signals}/docs">${facts.signals}/docs</a>`}.</p>
<p>Next: <a href="publishing">publish a book of your own</a>.</p>`,
}

const addressOf = ({ signals }: GuideFacts): string => signals ?? 'https://signals.example.org'

const firstSignal = ({ strategy: { id } }: GuideFacts): string => `1 ${id} long`

const RECEIVERS = {
  client: `import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from highwater_client import HighwaterError, verify_webhook

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        try:
            signal = verify_webhook(self.headers, body, os.environ['WEBHOOK_SECRET'])
            status = 204
        except HighwaterError as error:  # 401, or 204 for a notice, which is no signal
            signal, status = None, error.status
        self.send_response(status)
        self.end_headers()
        if signal:
            print(signal['seq'], signal['alias'], signal['action'], flush=True)

HTTPServer(('127.0.0.1', 9000), Receiver).serve_forever()`,
  ts: `import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { HighwaterError, verifyWebhook } from 'highwater-client'

createServer(async (request, response) => {
  try {
    const body = await buffer(request)
    const { signal } = await verifyWebhook(request.headers, body, process.env.WEBHOOK_SECRET ?? '')
    response.writeHead(204).end()
    console.log(signal.seq, signal.alias, signal.action)
  } catch (error) {
    const status = error instanceof HighwaterError ? error.status : null // 401, or 204 for a notice, which is no signal
    response.writeHead(status ?? 401).end()
  }
}).listen(9000, '127.0.0.1')`,
}

const pulls = (facts: GuideFacts) => ({
  sh: `curl -fsS -H "X-API-Key: $HIGHWATER_KEY" '${addressOf(facts)}/v1/signals/history?since=0' |
  jq -r '.data[] | "\\(.seq) \\(.alias) \\(.action)"'`,
  client: `import os
from highwater_client import Signals

for signal in Signals('${addressOf(facts)}', key=os.environ['HIGHWATER_KEY']).signals(since=0):
    print(signal['seq'], signal['alias'], signal['action'])`,
  ts: `import { HighwaterSignals } from 'highwater-client'

const live = new HighwaterSignals('${addressOf(facts)}', { key: process.env.HIGHWATER_KEY ?? '' })
for await (const { seq, alias, action } of live.signals({ since: 0 })) console.log(seq, alias, action)`,
})
