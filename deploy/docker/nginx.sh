#!/bin/bash
# nginx of the compose file: HTTPS with the certificate in TLS_FOLDER, and a self-signed one until there is another.
set -euo pipefail
if [ ! -s "$TLS_FOLDER/fullchain.pem" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "/CN=$DATA_NAME" \
    -addext "subjectAltName=DNS:$DATA_NAME,DNS:$SIGNALS_NAME" \
    -keyout "$TLS_FOLDER/privkey.pem" -out "$TLS_FOLDER/fullchain.pem" 2> /dev/null
fi
highwater nginx "$NGINX_FOLDER" --certificate "$TLS_FOLDER/fullchain.pem" --key "$TLS_FOLDER/privkey.pem" \
  --listen "$HTTPS_LISTEN" --http "$HTTP_LISTEN" --acme "$ACME_FOLDER/challenges" \
  --name "$DATA_NAME" --signals-name "$SIGNALS_NAME" \
  --history "$HISTORY_ADDRESS" --signals "$SIGNALS_ADDRESS"
exec bash "$NGINX_FOLDER/serve.sh"
