# Varnish as the CDN in front of the history service. site.vcl says where things are and is the one file to change;
# canonical.vcl is made from the route table of the service. docs/cdn.md maps the same to other CDNs.
#
# Headers that begin with hw- are notes of this configuration to itself. Those that a client sends are never believed, and
# none goes out with an answer.
vcl 4.1;

import std;
import xkey;

include "site.vcl";
include "canonical.vcl";

sub vcl_recv {
  if (req.restarts == 0) {
    unset req.http.hw-coding;
    unset req.http.hw-mode;
    if (req.method == "PURGE") {
      call purge_by_tag;
    }
    # What is neither a question that can be shared nor an open one is the service's own business.
    if (req.method != "GET" && req.method != "HEAD") {
      return (pass);
    }
    if (req.http.Authorization || req.http.X-API-Key) {
      return (pass);
    }
    unset req.http.Cookie;
    if (req.url ~ "[?%]") {
      call canonicalise;
    }
    call fold_coding;
  }
  # Pinned files are there without the service: its health must not stop them.
  if (req.url ~ "^/v1/snapshots/") {
    set req.backend_hint = origin;
  } else {
    set req.backend_hint = tier;
  }
  if (req.http.hw-mode == "fresh") {
    set req.grace = 0s;
  } else {
    set req.grace = 365d; # as long as the answer itself allows: see judge_lifetime
  }
  return (hash);
}

# PURGE with the tags in the header xkey: removes what carries one of them, whatever its address. With the header soft
# it is only made stale, so that the next question revalidates it. A proxy on this machine makes everyone local, hence
# the look at who it speaks for.
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

# Browsers send a hundred spellings of three wishes. What a client refuses (q=0) is no wish.
sub fold_coding {
  if (req.http.Accept-Encoding ~ "(?i)q=0") {
    set req.http.Accept-Encoding = regsuball(req.http.Accept-Encoding, "\s", "");
    set req.http.Accept-Encoding = regsuball(req.http.Accept-Encoding, "(?i)[^,;]+;q=0(?:\.0*)?(?=,|$)", "");
  }
  if (req.http.Accept-Encoding ~ "(?i)(?:^|[\s,])br(?:[\s,;]|$)") {
    set req.http.hw-coding = "br";
  } elsif (req.http.Accept-Encoding ~ "(?i)(?:^|[\s,])gzip(?:[\s,;]|$)") {
    set req.http.hw-coding = "gzip";
  } else {
    set req.http.hw-coding = "identity";
  }
}

sub vcl_hash {
  hash_data(req.url);
  hash_data(req.http.hw-coding);
  return (lookup);
}

# An answer past its time is given while a new one is fetched only as long as it says so (stale-while-revalidate). After
# that it waits for the new one, and is given only where there is none to be had (stale-if-error).
sub vcl_hit {
  if (obj.ttl >= 0s) {
    return (deliver);
  }
  if (obj.http.Cache-Control ~ "stale-while-revalidate=\d+"
      && obj.ttl + std.duration(regsub(obj.http.Cache-Control, "^.*stale-while-revalidate=(\d+).*$", "\1s"), 0s) >= 0s) {
    return (deliver);
  }
  if (req.http.hw-mode == "stale" || !std.healthy(req.backend_hint)) {
    return (deliver);
  }
  set req.http.hw-mode = "fresh";
  return (restart);
}

sub vcl_backend_fetch {
  if (bereq.http.hw-coding) {
    set bereq.http.Accept-Encoding = bereq.http.hw-coding;
    unset bereq.http.hw-coding;
    unset bereq.http.Available-Dictionary;
    unset bereq.http.Origin; # no answer depends on it: a page gets its headers when an answer is delivered
  }
}

sub vcl_backend_response {
  if (bereq.uncacheable) {
    unset beresp.http.CDN-Cache-Control;
    unset beresp.http.Cache-Tag;
    unset beresp.http.xkey;
    return (deliver);
  }
  if (beresp.status >= 500) {
    if (bereq.is_bgfetch || bereq.http.hw-mode == "fresh") {
      return (abandon); # there is an older answer: vcl_synth turns to it
    }
    set beresp.ttl = 0s;
    set beresp.grace = 0s;
    set beresp.uncacheable = true;
    return (deliver);
  }
  call judge_lifetime;
  call judge_variants;
  if (beresp.ttl <= 0s || beresp.http.Cache-Control ~ "no-store|private" || beresp.http.Set-Cookie) {
    set beresp.ttl = 120s; # for so long nobody waits for another's answer to the same question
    set beresp.grace = 0s;
    set beresp.uncacheable = true;
    return (deliver);
  }
  call tag;
  unset beresp.http.Access-Control-Allow-Origin;
  unset beresp.http.Access-Control-Expose-Headers;
  unset beresp.http.Server-Timing; # it tells of one request
  unset beresp.http.Use-As-Dictionary; # nobody gets a delta here
  unset beresp.http.CDN-Cache-Control;
  unset beresp.http.Cache-Tag;
  return (deliver);
}

# How long an answer is fresh, and how long it may stand in for a new one.
sub judge_lifetime {
  if (beresp.status == 422) {
    # A refusal that says how long it holds; Varnish by itself knows only the older codes.
    set beresp.ttl = std.duration(regsub(beresp.http.Cache-Control, "^.*max-age=(\d+).*$", "\1s"), 0s);
  }
  unset beresp.http.hw-targeted;
  if (beresp.http.CDN-Cache-Control ~ "max-age=\d+") {
    # Meant for us alone (RFC 9213), and only sent where a purge follows each publication.
    set beresp.ttl = std.duration(regsub(beresp.http.CDN-Cache-Control, "^.*max-age=(\d+).*$", "\1s"), 0s);
    set beresp.http.hw-targeted = "yes";
  }
  set beresp.grace = 0s;
  if (beresp.http.Cache-Control ~ "stale-while-revalidate=\d+") {
    set beresp.grace = std.duration(
      regsub(beresp.http.Cache-Control, "^.*stale-while-revalidate=(\d+).*$", "\1s"), 0s);
  }
  if (beresp.http.Cache-Control ~ "stale-if-error=\d+") {
    set beresp.grace = std.duration(regsub(beresp.http.Cache-Control, "^.*stale-if-error=(\d+).*$", "\1s"), 0s);
  }
}

# The coding is in the key, the origin does not matter, and dictionaries are for direct clients. What varies by anything
# else is not ours to keep.
sub judge_variants {
  if (beresp.http.Vary ~ "(?i)^\s*(?:(?:accept-encoding|origin|available-dictionary)\s*(?:,\s*|$))*$") {
    unset beresp.http.Vary;
  } elsif (beresp.http.Vary) {
    set beresp.ttl = 0s;
  }
}

# The service names the version of an answer; everything unpinned also carries one tag, for who knows no version.
sub tag {
  if (beresp.http.Cache-Tag && !beresp.http.xkey) {
    set beresp.http.xkey = regsuball(beresp.http.Cache-Tag, ",", " ");
  }
  if (bereq.url !~ "^/v1/snapshots/|[?&]dataset_version=") {
    set beresp.http.xkey = regsub(beresp.http.xkey, " ?unpinned$", "") + " unpinned";
  }
}

sub vcl_backend_error {
  if (bereq.is_bgfetch || bereq.http.hw-mode == "fresh") {
    return (abandon);
  }
  set beresp.ttl = 0s;
  set beresp.http.Content-Type = "application/json; charset=utf-8";
  set beresp.http.Cache-Control = "no-store";
  set beresp.http.Retry-After = "5";
  set beresp.http.X-Content-Type-Options = "nosniff";
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
  if (req.http.hw-coding) {
    # Varnish itself says that what it keeps in gzip varies by the coding, and so hides that none of it was said.
    if (!resp.http.Vary || resp.http.Vary == "Accept-Encoding") {
      set resp.http.Vary = "Accept-Encoding, Origin";
    }
    if (req.http.Origin) {
      call allow_origin;
    }
    if (resp.http.hw-targeted) {
      unset resp.http.hw-targeted;
      unset resp.http.Age; # until the purge it is as fresh as on the first day
    }
    unset resp.http.xkey;
  }
}
