# Made by `make deploy` from the route table in core/contract: change that, not this file.
vcl 4.1;

sub canonicalise {
  if (req.url ~ "^/v1(?:/snapshots/[0-9]{8}T[0-9]{6}Z)?(?:/correlation\?(?:period=weekly)|/export\?(?:format=csv|format=arrow|format=parquet|period=weekly|format=csv&period=weekly|format=arrow&period=weekly|format=parquet&period=weekly)|/strategies/[a-z0-9][a-z0-9_-]{0,63}/returns\?(?:format=csv|period=weekly|format=csv&period=weekly)|/strategies/[a-z0-9][a-z0-9_-]{0,63}/curve\?(?:format=csv)|/strategies/[a-z0-9][a-z0-9_-]{0,63}/trades\?(?:format=csv|format=arrow|format=parquet))$") {
    return; # the address of a published file, spelled out, as nearly all are
  }
  if (req.url !~ "^[A-Za-z0-9/?&=%+,.:;@!$'()*_~-]{1,2000}$") {
    return;
  }
  set req.http.hw-url = req.url;
  if (req.url ~ "%") {
    if (req.url ~ "%(?![0-9A-Fa-f]{2})" || req.url ~ "^.{500}") {
      unset req.http.hw-url;
      return;
    }
    call unescape;
  }
  set req.http.hw-route = regsub(req.http.hw-url, "^/v1(?:/snapshots/[0-9]{8}T[0-9]{6}Z)?(?:(/)strategies/[a-z0-9][a-z0-9_-]{0,63}(?:/([a-z]+))?|/([a-z]+))(?:\?.*)?$", "\1\2\3");
  set req.http.hw-given = "&" + regsub(req.http.hw-url, "^[^?]*\??", "");
  set req.http.hw-query = "";
  call take_parameters;
  if (req.http.hw-route) {
    set req.url = regsub(req.http.hw-url, "\?.*$", "") + regsub(req.http.hw-query, "^&", "?");
  }
  unset req.http.hw-url;
  unset req.http.hw-route;
  unset req.http.hw-given;
  unset req.http.hw-query;
  unset req.http.hw-part;
}

sub unescape {
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%61", "a");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%62", "b");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%63", "c");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%64", "d");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%65", "e");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%66", "f");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%67", "g");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%68", "h");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%69", "i");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%6a", "j");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%6b", "k");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%6c", "l");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%6d", "m");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%6e", "n");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%6f", "o");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%70", "p");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%71", "q");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%72", "r");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%73", "s");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%74", "t");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%75", "u");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%76", "v");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%77", "w");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%78", "x");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%79", "y");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%7a", "z");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%41", "A");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%42", "B");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%43", "C");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%44", "D");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%45", "E");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%46", "F");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%47", "G");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%48", "H");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%49", "I");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%4a", "J");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%4b", "K");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%4c", "L");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%4d", "M");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%4e", "N");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%4f", "O");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%50", "P");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%51", "Q");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%52", "R");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%53", "S");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%54", "T");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%55", "U");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%56", "V");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%57", "W");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%58", "X");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%59", "Y");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%5a", "Z");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%30", "0");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%31", "1");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%32", "2");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%33", "3");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%34", "4");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%35", "5");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%36", "6");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%37", "7");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%38", "8");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%39", "9");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%2d", "-");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%2e", ".");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%5f", "_");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%7e", "~");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%2c", ",");
  set req.http.hw-url = regsuball(req.http.hw-url, "(?i)%3a", ":");
}

sub take_parameters {
  if (req.http.hw-route == "strategies") {
    call take_dataset_version;
  } elsif (req.http.hw-route == "summary") {
    call take_dataset_version;
  } elsif (req.http.hw-route == "dataset") {
    call take_dataset_version;
  } elsif (req.http.hw-route == "correlation") {
    call take_dataset_version;
    call take_ids;
    call take_period;
  } elsif (req.http.hw-route == "export") {
    call take_dataset_version;
    call take_format;
    call take_period;
    call take_risk_pct;
  } elsif (req.http.hw-route == "/") {
    call take_dataset_version;
  } elsif (req.http.hw-route == "/stats") {
    call take_dataset_version;
    call take_risk_pct;
  } elsif (req.http.hw-route == "/returns") {
    call take_dataset_version;
    call take_format;
    call take_from;
    call take_period;
    call take_risk_pct;
    call take_to;
  } elsif (req.http.hw-route == "/curve") {
    call take_dataset_version;
    call take_format;
    call take_risk_pct;
  } elsif (req.http.hw-route == "/trades") {
    call take_dataset_version;
    call take_format;
  } else {
    unset req.http.hw-route;
  }
}

sub take_dataset_version {
  if (req.http.hw-given ~ "&dataset_version(?:=|&|$)") {
    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!dataset_version(?:=|&|$))[^&]*", "");
    set req.http.hw-query = req.http.hw-query + req.http.hw-part;
  }
}

sub take_format {
  if (req.http.hw-given ~ "&format(?:=|&|$)") {
    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!format(?:=|&|$))[^&]*", "");
    set req.http.hw-part = regsub(req.http.hw-part, "^&format=json$", "");
    set req.http.hw-query = req.http.hw-query + req.http.hw-part;
  }
}

sub take_from {
  if (req.http.hw-given ~ "&from(?:=|&|$)") {
    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!from(?:=|&|$))[^&]*", "");
    set req.http.hw-query = req.http.hw-query + req.http.hw-part;
  }
}

sub take_ids {
  if (req.http.hw-given ~ "&ids(?:=|&|$)") {
    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!ids(?:=|&|$))[^&]*", "");
    set req.http.hw-part = regsuball(req.http.hw-part, "&ids=?", ",");
    if (req.http.hw-part ~ "^(?=.{1,800}$)(?:,[^,]++){1,20}$" && req.http.hw-part !~ ",(?:\+|%20)++(?:,|$)") {
      set req.http.hw-part = regsuball(req.http.hw-part, "(?:\+|%20)(?=,|$)|(?<=,)(?:\+|%20)", "");
      set req.http.hw-part = regsub(req.http.hw-part, "^((?:,[^,]++)*?),([^,]++)((?:,[^,]++)*?),\2(?=,|$)", "\1,\2\3");
      set req.http.hw-part = regsub(req.http.hw-part, "^((?:,[^,]++)*?),([^,]++)((?:,[^,]++)*?),\2(?=,|$)", "\1,\2\3");
      set req.http.hw-part = regsub(req.http.hw-part, "^((?:,[^,]++)*?),([^,]++)((?:,[^,]++)*?),\2(?=,|$)", "\1,\2\3");
      set req.http.hw-part = regsub(req.http.hw-part, "^((?:,[^,]++)*?),([^,]++)((?:,[^,]++)*?),\2(?=,|$)", "\1,\2\3");
    }
    set req.http.hw-part = regsub(req.http.hw-part, "^,", "&ids=");
    set req.http.hw-query = req.http.hw-query + req.http.hw-part;
  }
}

sub take_period {
  if (req.http.hw-given ~ "&period(?:=|&|$)") {
    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!period(?:=|&|$))[^&]*", "");
    set req.http.hw-part = regsub(req.http.hw-part, "^&period=daily$", "");
    set req.http.hw-query = req.http.hw-query + req.http.hw-part;
  }
}

sub take_risk_pct {
  if (req.http.hw-given ~ "&risk_pct(?:=|&|$)") {
    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!risk_pct(?:=|&|$))[^&]*", "");
    if (req.http.hw-part ~ "^&risk_pct=[1-9](?:\.\d+)?[eE]-0*[1-9]$") {
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*1$", "&risk_pct=0.\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*2$", "&risk_pct=0.0\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*3$", "&risk_pct=0.00\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*4$", "&risk_pct=0.000\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*5$", "&risk_pct=0.0000\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*6$", "&risk_pct=0.00000\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*7$", "&risk_pct=0.000000\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*8$", "&risk_pct=0.0000000\1\2");
      set req.http.hw-part = regsub(req.http.hw-part, "^&risk_pct=([1-9])(?:\.(\d+))?[eE]-0*9$", "&risk_pct=0.00000000\1\2");
    }
    if (req.http.hw-part ~ "^&risk_pct=0*\d{1,6}(?:\.\d{1,9}0*)?$" && req.http.hw-part ~ "[1-9]") {
      set req.http.hw-part = regsub(req.http.hw-part, "=0+(?=\d)", "=");
      set req.http.hw-part = regsub(req.http.hw-part, "\.0+$|(\.\d*[1-9])0+$", "\1");
    }
    set req.http.hw-query = req.http.hw-query + req.http.hw-part;
  }
}

sub take_to {
  if (req.http.hw-given ~ "&to(?:=|&|$)") {
    set req.http.hw-part = regsuball(req.http.hw-given, "&(?!to(?:=|&|$))[^&]*", "");
    set req.http.hw-query = req.http.hw-query + req.http.hw-part;
  }
}
