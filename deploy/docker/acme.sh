#!/bin/bash
# Certificates for the compose file: asked for when they are missing, renewed before they end. nginx reads them by itself, the
# chain last, because it is what nginx watches.
set -euo pipefail
install='for name in privkey fullchain; do install -m 0600 "$RENEWED_LINEAGE/$name.pem" "$TLS_FOLDER/$name.pem"; done'
while :; do
  certbot certonly --non-interactive --agree-tos --email "$ACME_EMAIL" --keep-until-expiring \
    --webroot -w "$ACME_FOLDER/challenges" -d "$DATA_NAME" -d "$SIGNALS_NAME" --deploy-hook "$install" \
    --config-dir "$ACME_FOLDER/config" --work-dir /tmp/acme --logs-dir /tmp/acme || echo "no certificate: see above; asked again in 12 hours" >&2
  sleep 12h
done
