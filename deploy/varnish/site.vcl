vcl 4.1;

backend origin {
  .host = "127.0.0.1";
  .port = "8090";
}

# The same address with a probe of the tier: if the tier is down, no request waits for it.
backend tier {
  .host = "127.0.0.1";
  .port = "8090";
  .probe = { .url = "/healthz"; .interval = 2s; .timeout = 2s; .window = 3; .threshold = 2; .initial = 3; }
}

acl purgers {
  "127.0.0.1";
  "::1";
}

sub allow_origin {
  if (req.http.Origin ~ "^(?:https://www\.example\.org|http://localhost:5173|http://127\.0\.0\.1:5173|http://localhost:3000|http://127\.0\.0\.1:3000|http://localhost:8100|http://127\.0\.0\.1:8100)$") {
    set resp.http.Access-Control-Allow-Origin = req.http.Origin;
    set resp.http.Access-Control-Expose-Headers = "ETag, Link, Content-Location, Content-Disposition, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, Unencoded-Digest, X-Dataset-Version, X-Disclaimer, X-Risk-Pct-Effective, X-Risk-Pct-Clamped, X-Request-Id";
  }
}

sub write_unavailable {
  synthetic("""{"error":{"code":"unavailable","message":"the service cannot be reached at the moment; ask again in a few seconds","details":null},"meta":{"basis":"backtested","register":"factual_historical","audience":"professional_institutional","license":"global","dataset_version":null,"generated_utc":null,"timing_ms":null,"disclaimer":"Historical, backtested or modelled results, published as factual information for professional and institutional use. They were not achieved by trading a real account, are made with the benefit of hindsight, and rest on assumptions about costs, liquidity and execution that may not hold. Leveraged trading can lose all of the capital committed. Past results, modelled or real, are no guide to future results. Nothing here is advice, a recommendation, an offer or a forecast."}}""");
}
