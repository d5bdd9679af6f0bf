# Varnish as the CDN in front of the history service. site.vcl holds what differs between installations; docs/cdn.md maps
# the same to other CDNs.
#
# Headers that begin with hw- are variables of this configuration. Those of a client are removed, and no client gets one.
vcl 4.1;

import std;
import xkey;

include "site.vcl";

sub vcl_recv {
  if (req.restarts == 0) {
    unset req.http.hw-coding;
    unset req.http.hw-mode;
    if (req.method == "PURGE") {
      call purge_by_tag;
    }
    unset req.http.Range; # the tier and nginx answer no ranges
    # Only GET and HEAD without credentials are cached.
    if ((req.method != "GET" && req.method != "HEAD") || req.http.Authorization || req.http.X-API-Key) {
      return (pass);
    }
    unset req.http.Cookie;
    # One order of parameters, without those that no service will ever have (core/contract/near-miss.ts). Others stay: the
    # service refuses those that it nearly knows. Escaped names and repeated ones stay, because the order of ids has a
    # meaning, and so does a query with a question mark in it.
    if (req.url ~ "^(?=.{1,2000}$)/v1/[^%?]+\?[^%?]*$" && req.url
        !~ "[?&](as_of|dataset_version|format|from|ids|period|risk_pct|to)[=&](?:.*&)?\1(?:[=&]|$)") {
      set req.url = regsuball(req.url,
        "(?<=[?&])(?:[A-Za-z0-9]?|_[^=&]*|utm_[^=&]*|fbclid|gclid|msclkid)(?:=[^&]*)?(?:&|$)", "");
      set req.url = regsub(std.querysort(req.url), "[?&]+$", "");
    }
    call fold_coding;
  }
  # nginx answers these without the tier: the probe of the tier must not stop them.
  if (req.url ~ "^/v1/snapshots/") {
    set req.backend_hint = origin;
  } else {
    set req.backend_hint = tier;
  }
  if (req.http.hw-mode == "fresh") {
    set req.grace = 0s;
  } else {
    set req.grace = 365d; # beresp.grace limits it, see set_lifetime
  }
  return (hash);
}

# PURGE with tags in the header xkey removes every object with one of them; with the header soft it makes them stale. A
# request through a proxy on this machine comes from a local address too, so X-Forwarded-For must name one address.
sub purge_by_tag {
  if (client.ip !~ purgers || req.http.X-Forwarded-For ~ ",") {
    return (synth(403, "Forbidden"));
  }
  if (!req.http.xkey) {
    return (synth(400, "the header xkey must name tags"));
  }
  if (req.http.soft) {
    return (synth(200, "purged " + xkey.softpurge(req.http.xkey)));
  }
  return (synth(200, "purged " + xkey.purge(req.http.xkey)));
}

# Accept-Encoding becomes br, gzip or identity: the first that is listed, or not listed while * is, and not with q=0.
sub fold_coding {
  set req.http.hw-coding = regsuball(req.http.Accept-Encoding, "\s", "");
  if (req.http.hw-coding
      ~ "(?i)^(?:(?:.*,)?br|(?!(?:.*,)?br(?:[;,]|$))(?:.*,)?\*)(?!;q=0(?:\.0*)?(?:,|$))(?:[;,]|$)") {
    set req.http.hw-coding = "br";
  } elsif (req.http.hw-coding
      ~ "(?i)^(?:(?:.*,)?gzip|(?!(?:.*,)?gzip(?:[;,]|$))(?:.*,)?\*)(?!;q=0(?:\.0*)?(?:,|$))(?:[;,]|$)") {
    set req.http.hw-coding = "gzip";
  } else {
    set req.http.hw-coding = "identity";
  }
  set req.http.Accept-Encoding = req.http.hw-coding; # without gzip in it Varnish would decompress
}

sub vcl_hash {
  hash_data(req.url);
  hash_data(req.http.hw-coding);
  return (lookup);
}

# A stale object is delivered while a new one is fetched for as long as stale-while-revalidate says. After that the
# request waits for the new one, and gets the stale one only if the fetch fails (stale-if-error).
sub vcl_hit {
  if (obj.ttl >= 0s) {
    return (deliver);
  }
  if (obj.ttl + std.duration(
        regsub(obj.http.hw-caching, "(?i)^(?:.*[\s,])?stale-while-revalidate=(\d+).*$", "\1s"), 0s) >= 0s) {
    return (deliver);
  }
  if (req.http.hw-mode == "stale" || !std.healthy(req.backend_hint)) {
    return (deliver);
  }
  set req.http.hw-mode = "fresh";
  return (restart);
}

sub vcl_backend_fetch {
  if (!bereq.http.Content-Length) {
    unset bereq.body; # chunked: no route takes it, and if it is malformed, it would look like a server that failed
  }
  if (bereq.http.hw-coding) {
    set bereq.http.Accept-Encoding = bereq.http.hw-coding;
    unset bereq.http.hw-coding;
    unset bereq.http.Origin; # no answer depends on it: CORS headers are added on delivery
  }
}

sub vcl_backend_response {
  if (bereq.uncacheable) {
    unset beresp.http.Cache-Tag;
    unset beresp.http.xkey;
    return (deliver);
  }
  if (beresp.status >= 500) {
    if (bereq.is_bgfetch || bereq.http.hw-mode == "fresh") {
      return (abandon); # vcl_synth delivers the stale object
    }
    set beresp.ttl = 0s;
    set beresp.grace = 0s;
    set beresp.uncacheable = true;
    return (deliver);
  }
  call read_directives;
  call set_lifetime;
  # The coding is in the key, and the origin does not matter. What varies by another header is not cached.
  if (beresp.http.Vary ~ "(?i)^\s*(?:(?:accept-encoding|origin)\s*(?:,\s*|$))*$") {
    unset beresp.http.Vary;
  } elsif (beresp.http.Vary) {
    set beresp.ttl = 0s;
  }
  if (beresp.ttl <= 0s || beresp.http.Set-Cookie
      || beresp.http.hw-caching ~ "(?i)(?:^|[\s,])(?:no-store|no-cache|private)(?:[\s,=]|$)") {
    set beresp.ttl = 120s; # for so long requests for this object do not wait for each other
    set beresp.grace = 0s;
    set beresp.uncacheable = true;
    return (deliver);
  }
  if (bereq.url !~ "^/v1/snapshots/|[?&]dataset_version=") {
    set beresp.http.xkey = beresp.http.Cache-Tag + " unpinned";
  }
  unset beresp.http.Access-Control-Allow-Origin;
  unset beresp.http.Access-Control-Expose-Headers;
  unset beresp.http.Server-Timing; # of one request
  unset beresp.http.Cache-Tag;
  return (deliver);
}

# The directives for this cache: those of CDN-Cache-Control if it is well-formed (RFC 9213), else those of Cache-Control.
sub read_directives {
  std.collect(beresp.http.Cache-Control);
  std.collect(beresp.http.CDN-Cache-Control);
  set beresp.http.hw-caching = beresp.http.Cache-Control;
  if (beresp.http.CDN-Cache-Control ~ "^(?:[a-z*][\w.*-]*(?:=[\w.*-]+)?(?:\s*,\s*|\s*$))+$") {
    set beresp.http.hw-caching = beresp.http.CDN-Cache-Control;
  }
}

# How long an object is fresh (RFC 9111, 4.2), how long after that it may be delivered stale, and how long it is kept to
# be revalidated. Without a valid lifetime it is not fresh at all.
sub set_lifetime {
  set beresp.ttl = std.duration(
    regsub(beresp.http.hw-caching,
      "(?i)^(?:(?:.*[\s,])?s-maxage=(\d+)|(?:.*[\s,])?max-age=(\d+))(?:[\s,].*)?$", "\1\2s"),
    std.time(beresp.http.Expires, std.time(beresp.http.Date, now)) - std.time(beresp.http.Date, now)) - beresp.age;
  set beresp.grace = 0s;
  if (beresp.http.hw-caching !~ "(?i)(?:^|[\s,])(?:must-revalidate|proxy-revalidate|s-maxage)") {
    set beresp.grace = std.duration(
      regsub(beresp.http.hw-caching, "(?i)^(?:.*[\s,])?stale-if-error=(\d+).*$", "\1s"), std.duration(
      regsub(beresp.http.hw-caching, "(?i)^(?:.*[\s,])?stale-while-revalidate=(\d+).*$", "\1s"), 0s));
  }
  if (beresp.http.ETag || beresp.http.Last-Modified) {
    set beresp.keep = 1h;
  }
}

sub vcl_backend_error {
  if (bereq.is_bgfetch || bereq.http.hw-mode == "fresh") {
    return (abandon);
  }
  set beresp.ttl = 0s;
  set beresp.http.Content-Type = "application/json; charset=utf-8";
  set beresp.http.Cache-Control = "no-store";
  set beresp.http.X-Content-Type-Options = "nosniff";
  set beresp.http.Retry-After = "5";
  call write_unavailable;
  return (deliver);
}

sub vcl_synth {
  if (resp.status == 503 && req.http.hw-mode == "fresh") {
    set req.http.hw-mode = "stale";
    return (restart);
  }
  set resp.http.Content-Type = "text/plain; charset=utf-8";
  set resp.http.Cache-Control = "no-store";
  synthetic(resp.reason + {"
"});
  return (deliver);
}

sub vcl_deliver {
  unset resp.http.Accept-Ranges;
  unset resp.http.hw-caching;
  # Varnish compares If-None-Match with one tag only.
  if (resp.http.ETag && (req.http.If-None-Match == "*"
      || std.strstr(req.http.If-None-Match, regsub(resp.http.ETag, "^W/", "")))) {
    set req.http.If-None-Match = resp.http.ETag;
  }
  if (req.http.hw-coding) {
    # Varnish adds Vary: Accept-Encoding to objects that it stores compressed.
    if (!resp.http.Vary || resp.http.Vary == "Accept-Encoding") {
      set resp.http.Vary = "Accept-Encoding, Origin";
    }
    if (req.http.Origin) {
      call allow_origin;
    }
    unset resp.http.xkey;
  }
}
