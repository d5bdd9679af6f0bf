// Made from the OpenAPI document by `UPDATE_GOLDEN=1 vitest run generated-types`: do not edit.

export type Identity = {
    /** Id of the client. */
    client_id: string;
    /** Tier of the subscription. */
    tier: string;
    /** `pending` until the operator switches the account on. */
    status: "pending" | "active";
    /** What the client may see; beside `aliases` a flag under the alias of the program. */
    entitlements: {
        /** The strategies whose signals the client gets. */
        aliases: string[];
        [key: string]: boolean | string[];
    };
    /** Public part of the key that was used. */
    key_id: string;
};
export type WhoamiAnswer = Identity;
export type LogHead = {
    /** Number of the newest signal that this client sees, 0 where there is none. */
    seq: number;
    /** The same as `seq`; kept for clients of earlier releases. */
    log_seq: number;
    /** Names this history of the log. When it changes, pull everything again. */
    epoch: string;
    /** UTC instant, ISO 8601 with milliseconds. */
    server_time: string;
};
export type Meta = {
    /** UTC instant of the answer, ISO 8601. */
    generated_utc: string;
    /** Server time in milliseconds; null where a request could not even be read. */
    timing_ms: number | null;
    /** Signals: they are of the live log, as opposed to `backtested` and `reported` histories. */
    basis?: "live";
    /** Number of items in `data`. */
    count?: number;
    /** What to give as `since` next time. */
    last_seq?: number;
    /** Simulations: true when what was asked lay outside of the bounds and was brought to them. */
    input_clamped?: boolean;
    /** Simulations: the input that was asked for. */
    requested?: {
        /** The equity that was asked for, US dollars. */
        equity_usd: number;
        /** The cadence that was asked for, bars. */
        contribution_cadence_bars: number;
    };
};
export type Links = {
    [key: string]: string;
};
export type HeadAnswer = {
    /** Where the log stands. */
    data: LogHead;
    meta: Meta;
    links: Links;
};
export type HistoryQuery = {
    /** The highest number that was processed: the answer follows it. 0 gives everything. */
    since?: number;
    /** Rows of a page; `links.next` leads to the next one. Without it everything is answered at once. */
    limit?: number;
};
export type Signal = {
    /** Version of this schema, to be pinned. */
    schema_version: string;
    /** Unique id, for de-duplication. */
    signal_id: string;
    /** Strictly ascending number in the log of the service. */
    seq: number;
    /** The product: route on this alone. */
    alias: string;
    /** Trade `LIVE` only. */
    mode: "LIVE" | "DRY_RUN";
    /** True means: never trade, whatever the action. */
    is_test: boolean;
    /** What to hold from now on; `flat` closes. */
    action: "long" | "short" | "flat";
    /** Reference price, the close of the deciding bar; no promise of a fill. */
    signal_price: number;
    /** Price of the protective stop; on `flat` the one that was in force. */
    stop: number;
    /** Fraction of equity at risk, 0.02 is 2 %; 0 on `flat`. */
    base_risk_pct: number;
    /** When the decision was made, UTC. */
    timestamp: string;
    /** base_risk_pct / (|signal_price - stop| / signal_price); 0 on `flat`. */
    implied_leverage: number;
    /** Who decided: `strategy`, or `operator:NAME` if it was fired with the token of that name. Signals of earlier releases have none. */
    by?: string;
    /** Only on `flat`: the `stop` was hit, the rules of the strategy left by `signal` or `time`, an `operator` fired it, or `end`: its account is ruined, or another version replaces it. */
    why?: "stop" | "signal" | "time" | "operator" | "end";
};
export type HistoryAnswer = {
    /** Signals since a number. */
    data: Signal[];
    meta: Meta;
    links: Links;
};
export type ParameterProblem = {
    /** Name of the parameter, of the field, or `body`. */
    param: string;
    /** What was given, cut if it is long. */
    value: string;
    /** What is wrong with it. */
    reason: string;
    /** The legal values, if there are few. */
    allowed?: string[];
};
export type Error = {
    /** What went wrong. */
    error: {
        /** One of a closed list of codes; branch on this, never on the message. */
        code: "bad_request" | "unauthorized" | "forbidden" | "account_not_active" | "not_entitled" | "not_found" | "profile_not_set" | "method_not_allowed" | "conflict" | "gone" | "payload_too_large" | "uri_too_long" | "unsupported_media_type" | "validation_error" | "rate_limited" | "internal_error" | "not_ready" | "unavailable" | "overloaded";
        /** What was wrong, in one sentence, for people. */
        message: string;
        /** More about the error, or null: the refused parameters of a `validation_error`, the checks of `not_ready`. */
        details: ParameterProblem[] | {
            /** The checks, false for each that fails. */
            checks: {
                [key: string]: boolean;
            };
        } | {
            /** What there is instead. */
            available: string[];
        } | null;
    };
    meta: Meta;
};
