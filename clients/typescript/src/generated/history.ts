// Made from the OpenAPI document by `UPDATE_GOLDEN=1 vitest run generated-types`: do not edit.

export type StrategyListItem = {
    /** Alias of the strategy. It names a tree or a river, never the mechanism. */
    id: string;
    /** Display name. */
    name: string;
    /** One sentence for people, or null. */
    blurb: string | null;
    /** Outcome of comparing the trades with the export of an external charting tool, in every build: `confirmed` if 99 % match in side, bars and prices of entry and exit, `diverged` otherwise; `provisional` without an export of this version that covers 95 % of the trades, or with too few trades (30, or 10 over a year); `not_applicable` to reported returns. */
    tv_status: "provisional" | "confirmed" | "diverged" | "not_applicable";
    /** How the history came about: `backtested` by a replay or computed from a ledger, or `reported` by its maker as daily returns. Signals of the live log are `live`. */
    basis: "backtested" | "reported" | "live" | "mixed";
    /** Identifier of the perpetual contract. */
    instrument: string;
    /** Share of equity that one trade risks at its stop, as the strategy itself trades. A fraction: 0.02 = 2 %. */
    base_risk_pct: number;
    /** Median entry leverage, notional / equity. 6 decimals. Not recomputable from open data: needs the leverage of the trades. */
    leverage_typical: number | null;
    /** Largest entry leverage, notional / equity. 6 decimals. Not recomputable from open data: needs the leverage of the trades. */
    leverage_max: number | null;
    /** Since when this history is published, a UTC instant: the first version with it, by its name, or when it was entered if its name is more than 36 hours older. No later version lacked the strategy, restated it, or had another version of its module, another base risk, or withdrew its end. In versions of older builds null. */
    published_since: string | null;
    /** Last day of a strategy that is over; it is listed last. Null while it goes on. */
    ended_on: string | null;
    /** Why it is over, as the operator states it; or null. */
    ended_reason: string | null;
    /** Day of the last exit, if no trade has followed for 90 days, for longer than ever before, and no position is open. */
    idle_since: string | null;
    /** Depth of the internal validation: `single_verified` when the ledger audit passes, which recomputes the result of every trade; `dual_verified` when two independent computations of the daily marks agree as well, and funding is known for 99 % of the time of its positions; `unverified` when a result could not be recomputed, and while no trade is closed. Determined by every build. It does not show when the rules were written. */
    verification_state: "unverified" | "single_verified" | "dual_verified" | "failed";
    /** The five figures of a list, at base risk. */
    headline: {
        /** Compound annual growth rate. Percent, 6 decimals. */
        cagr_pct: number | null;
        /** Deepest fall from a peak, negative. Percent, 6 decimals. */
        max_drawdown_pct: number;
        /** Sharpe ratio of daily returns, annualised by the square root of 365; 90 days or more. 6 decimals. */
        sharpe_daily_annualized: number | null;
        /** Gains / losses of the closed trades on account equity. 6 decimals. Not recomputable from open data: needs the leverage of the trades. */
        profit_factor: number | null;
        /** Closed trades. */
        trade_count: number;
    };
};
export type Meta = {
    /** How the figures came about: `backtested` by a replay or computed from a ledger, `reported` by the maker of the history, or `mixed` where the answer has strategies of both kinds. Signals of the live log are `live`. */
    basis: string;
    /** What kind of statement this is. `factual_historical`. */
    register: string;
    /** For whom the data is meant. `professional_institutional`. */
    audience: string;
    /** Scope of the data licence. `global`. */
    license: string;
    /** UTC instant that names the dataset snapshot, ISO 8601. */
    dataset_version: string | null;
    /** UTC instant of the answer. For dataset answers it is the instant of the version, or the later one at which it was entered, so that equal answers are equal bytes. */
    generated_utc: string | null;
    /** Server time in milliseconds; null on dataset answers, where `Server-Timing` carries it. */
    timing_ms: number | null;
    /** The terms under which historical results must be read. */
    disclaimer: string;
    /** Number of items in `data`. */
    count?: number;
    /** Period of the returns in the answer. */
    period?: "daily" | "weekly";
    /** Risk level of the figures, a fraction: 0.02 = 2 % of equity per trade. */
    risk_pct?: number;
    /** True when the figures were rescaled by `risk_pct`. */
    modelled?: boolean;
    /** Risk level of the strategy itself, a fraction: 0.02 = 2 % of equity per trade. */
    base_risk_pct?: number;
    /** Export at a risk level: the base risk of each strategy, because they may differ, a fraction: 0.02 = 2 % of equity per trade. */
    base_risk_pcts?: {
        [key: string]: number;
    };
    /** Risk level that was asked for, a fraction: 0.02 = 2 % of equity per trade. */
    requested_risk_pct?: number;
    /** Risk level that was used after clamping, a fraction: 0.02 = 2 % of equity per trade. */
    effective_risk_pct?: number;
    /** True when the requested level was above the cap and was lowered to it. */
    risk_pct_clamped?: boolean;
    /** How time under water is counted. */
    time_underwater_footnote?: string;
    /** One sentence on method. */
    note?: string;
};
export type Links = {
    [key: string]: string;
};
export type StrategiesAnswer = {
    /** All strategies, in catalogue order, those that are over last. */
    data: StrategyListItem[];
    meta: Meta;
    links: Links;
};
export type Summary = {
    /** Strategies in the book. */
    strategy_count: number;
    /** Strategies that were published and are no more, in the order in which they were removed. No line is taken back. */
    removed: {
        /** Alias of the strategy. It names a tree or a river, never the mechanism. */
        id: string;
        /** Display name. */
        name: string;
        /** Day on which it was removed. */
        on: string;
        /** Why, as the operator states it. */
        reason: string;
        /** Since when its history had been published. */
        published_since: string | null;
        /** Days of its history. */
        days: number;
    }[];
    /** Earliest and latest day of any series. */
    coverage: {
        /** First UTC day, inclusive. */
        "from": string | null;
        /** Last UTC day, inclusive. */
        to: string | null;
    };
    /** Mean correlation of daily returns over the pairs that have one, 8 decimals. */
    mean_pairwise_correlation: number;
    /** Equal parts of the strategies alive on each day, at base risk and rebalanced daily, from the first to the last day of any strategy. */
    equal_weight_book: {
        /** Days from the first to the last of any strategy. */
        n_days: number;
        /** Net return. Percent, 6 decimals. */
        net_return_pct: number;
        /** Compound annual growth rate. Percent, 6 decimals. */
        cagr_pct: number | null;
        /** Deepest fall from a peak, negative. Percent, 6 decimals. */
        max_drawdown_pct: number;
        /** Sharpe ratio of daily returns, annualised by the square root of 365; 90 days or more. 6 decimals. */
        sharpe_daily_annualized: number | null;
        /** Of how many strategies the book consists; null in versions that did not count them. */
        coverage: {
            /** First day of the book. */
            "from": string | null;
            /** Last day of the book. */
            to: string | null;
            /** Strategies alive on the day with the fewest. */
            fewest_strategies: number;
            /** Strategies alive on the day with the most. */
            most_strategies: number;
            /** Days on which all strategies are alive. */
            days_with_all: number;
            /** Days between two strategies without any; the book returns 0 on them. */
            days_without_any: number;
        } | null;
        /** For each figure that is null, the path of its field and the reason. `too_few_points`: The series, or the ledger, has fewer points than the formula needs: 90 days, 26 complete weeks or 6 complete months for what is annualised, for the Kelly figures and for trades per year. `less_than_one_year`: The series has fewer than 365 days: a month extrapolated to a year says nothing of a year. `zero_variance`: All values are the same, so there is nothing to divide by. `no_losses`: There is no loss beyond 1e-12 to divide by, or to average. `no_wins`: There is no gain beyond 1e-12 to divide by, or to average. `no_drawdown`: The equity never fell below its peak; for the averages, for no more than a day at a time. `no_trades`: There is no closed trade, and for exposure none that is open either; where only returns are reported there is none by nature. `zero_denominator`: The denominator of the formula is 0. `non_positive_sharpe`: The Sharpe ratio is not above 0, so no length of record would show that it is. `ruin`: A day took the whole equity: a ratio of nothing says nothing. `no_benchmark`: There are no bars of the instrument over these days, or the catalogue turns the comparison off. `no_trials`: The catalogue does not declare how many variants were tried. `unknown_leverage`: The leverage of a trade is unknown, or there are no bars to follow it on. `no_module`: The service runs no module of the strategy, so which entries it asked for is unknown. `not_published`: No earlier version contains the strategy with the same history. A figure that was defined after the version was published is null without a reason, and absent from its published files. */
        "undefined": {
            [key: string]: string;
        };
    };
    /** How far the strategies are different bets. */
    diversification: {
        /** The same as `mean_pairwise_correlation`; 0 without a pair. */
        mean_correlation: number;
        /** The pair with the highest correlation, or null. */
        most_correlated: {
            /** The two strategies. */
            pair: string[];
            /** Their correlation, 8 decimals. */
            correlation: number;
        } | null;
        /** The pair with the lowest correlation, or null. */
        least_correlated: {
            /** The two strategies. */
            pair: string[];
            /** Their correlation, 8 decimals. */
            correlation: number;
        } | null;
        /** Number of independent strategies that would spread risk as well; without a pair the number of strategies used. 6 decimals. */
        effective_bets: number;
        /** Strategies in at least one pair that has a correlation; without a pair those that are neither flat nor too short. */
        n_strategies_used: number;
        /** How many pairs the figures are taken over; null in versions that did not count them. */
        coverage: {
            /** Pairs of strategies. */
            pairs: number;
            /** Pairs that have a correlation. */
            pairs_defined: number;
        } | null;
    };
};
export type SummaryAnswer = {
    /** Summary of the book. */
    data: Summary;
    meta: Meta;
    links: Links;
};
export type Dataset = {
    /** The dataset version, a UTC instant. */
    version: string;
    /** When the version was made: the same instant, unless it was entered later than its name says. */
    generated_utc: string;
    /** When its build began, if its name is more than 36 hours older; null where the name is the truth. */
    entered: string | null;
    /** Whether this version alters history that the one before had published. */
    history_restated: boolean;
    /** Display name of the service. */
    name: string;
    /** Earliest and latest day of any series. */
    window: {
        /** First UTC day, inclusive. */
        "from": string | null;
        /** Last UTC day, inclusive. */
        to: string | null;
    };
    /** Strategies in the dataset. */
    strategy_count: number;
    /** What computed the history. */
    engine: string;
    /** Where the prices come from. */
    data_source: string;
    /** Where the method is described. */
    methodology_url: string;
    /** Days by which the published window ends before the last complete day of the data. */
    embargo_days: number;
    /** How far the funding rates reach that positions are charged, for each instrument. */
    funding: {
        /** Identifier of the perpetual contract. */
        instrument: string;
        /** UTC instant of the first payment; null without funding. */
        "from": string | null;
        /** UTC instant of the last payment in the window. */
        to: string | null;
        /** Payments up to the end of the window; none if the operator states that the instrument has no funding. */
        payments: number;
        /** Places at which payments are missing; positions there are charged none. */
        gaps: number;
        /** The longest of them. Hours; null without a gap. */
        longest_gap_hours: number | null;
        /** Payments that are due in the gaps; null in versions that did not record it. */
        payments_missing: number | null;
        /** `stated` by the operator, or `inferred` as the finest interval of the payments; null without funding, and in versions that did not record it. */
        interval_basis: ("stated" | "inferred") | null;
        /** How often payments are due, in order of time. */
        intervals: {
            /** UTC instant of the payment after which it holds; null for the first. */
            "from": string | null;
            /** Hours between two payments. */
            hours: number;
        }[];
    }[];
    /** Serious findings in the data and in records, such as long gaps or no losing trade, that the operator publishes with a reason. */
    accepted_findings: {
        /** What kind of finding. */
        finding: string;
        /** The bars, as instrument and timeframe, or the id of a strategy. */
        "of": string;
        /** UTC instant of the first bar, trade or day that it concerns. */
        "from": string;
        /** UTC instant of the last. */
        to: string;
        /** How many bars, trades or days. */
        count: number;
        /** What was expected and what was found. */
        what: string;
        /** Why the operator accepts it. */
        reason: string;
        /** Strategies whose history is made from these data. */
        strategies: string[];
    }[];
    /** Strategies that were published and are no more, in the order in which they were removed. No line is taken back. */
    removed: {
        /** Alias of the strategy. It names a tree or a river, never the mechanism. */
        id: string;
        /** Display name. */
        name: string;
        /** Day on which it was removed. */
        on: string;
        /** Why, as the operator states it. */
        reason: string;
        /** Since when its history had been published. */
        published_since: string | null;
        /** Days of its history. */
        days: number;
    }[];
    /** The strategies, in catalogue order. */
    strategies: {
        /** Alias of the strategy. It names a tree or a river, never the mechanism. */
        id: string;
        /** Display name. */
        name: string;
        /** How the history came about. */
        basis: "backtested" | "reported" | "live" | "mixed";
        /** Depth of the internal validation. */
        verification_state: "unverified" | "single_verified" | "dual_verified" | "failed";
    }[];
};
export type DatasetAnswer = {
    /** Dataset. */
    data: Dataset;
    meta: Meta;
    links: Links;
};
export type CorrelationQuery = {
    /** Period of the returns; weeks are complete ISO weeks. */
    period?: "daily" | "weekly";
    /** Strategies of the matrix, in the order wanted: separated by commas, or as repeated keys. */
    ids?: string[];
};
export type Correlation = {
    /** Row and column order. */
    ids: string[];
    /** Pearson correlations, 8 decimals; symmetric, 1 on the diagonal; 0 where undefined. */
    matrix: number[][];
    /** The cells that are 0 because they are undefined. */
    undefined_pairs: {
        /** The two strategies. */
        pair: string[];
        /** Periods that both have. */
        overlap: number;
        /** Why there is no correlation. */
        reason: string;
    }[];
};
export type CorrelationAnswer = {
    /** Correlation matrix. */
    data: Correlation;
    meta: Meta;
    links: Links;
};
export type ExportQuery = {
    /** Period of the returns; weeks are complete ISO weeks. */
    period?: "daily" | "weekly";
    /** Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by `risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. A level at which a figure would pass what a number can hold is refused. */
    risk_pct?: number;
    /** First day, inclusive. */
    "from"?: string;
    /** Last day, inclusive. */
    to?: string;
};
export type Export = {
    /** All strategies, in catalogue order. */
    ids: string[];
    /** A row a period, ascending. */
    rows: {
        /** UTC day of the returns; for a week its Sunday. */
        t: string;
        /** Return of each strategy, a fraction; a strategy has no key before its inception. */
        rets: {
            [key: string]: number;
        };
    }[];
    correlation: Correlation;
};
export type ExportAnswer = {
    /** Export. */
    data: Export;
    meta: Meta;
    links: Links;
};
export type Benchmark = {
    /** The instruments, in the order of the catalogue. */
    instruments: string[];
    /** A row a day, ascending. */
    rows: {
        /** UTC day of the returns. */
        t: string;
        /** Return of each instrument and of the equal-weight book, a fraction; an instrument without bars on the day or before has no key. */
        rets: {
            [key: string]: number;
        };
    }[];
};
export type BenchmarkAnswer = {
    /** Benchmark. */
    data: Benchmark;
    meta: Meta;
    links: Links;
};
export type Strategy = {
    /** Alias of the strategy. It names a tree or a river, never the mechanism. */
    id: string;
    /** Display name. */
    name: string;
    /** One sentence for people, or null. */
    blurb: string | null;
    /** Outcome of comparing the trades with the export of an external charting tool, in every build: `confirmed` if 99 % match in side, bars and prices of entry and exit, `diverged` otherwise; `provisional` without an export of this version that covers 95 % of the trades, or with too few trades (30, or 10 over a year); `not_applicable` to reported returns. */
    tv_status: "provisional" | "confirmed" | "diverged" | "not_applicable";
    /** How the history came about: `backtested` by a replay or computed from a ledger, or `reported` by its maker as daily returns. Signals of the live log are `live`. */
    basis: "backtested" | "reported" | "live" | "mixed";
    /** Identifier of the perpetual contract. */
    instrument: string;
    /** Share of equity that one trade risks at its stop, as the strategy itself trades. A fraction: 0.02 = 2 %. */
    base_risk_pct: number;
    /** Median entry leverage, notional / equity. 6 decimals. Not recomputable from open data: needs the leverage of the trades. */
    leverage_typical: number | null;
    /** Largest entry leverage, notional / equity. 6 decimals. Not recomputable from open data: needs the leverage of the trades. */
    leverage_max: number | null;
    /** Since when this history is published, a UTC instant: the first version with it, by its name, or when it was entered if its name is more than 36 hours older. No later version lacked the strategy, restated it, or had another version of its module, another base risk, or withdrew its end. In versions of older builds null. */
    published_since: string | null;
    /** Last day of a strategy that is over; it is listed last. Null while it goes on. */
    ended_on: string | null;
    /** Why it is over, as the operator states it; or null. */
    ended_reason: string | null;
    /** Day of the last exit, if no trade has followed for 90 days, for longer than ever before, and no position is open. */
    idle_since: string | null;
    /** Depth of the internal validation: `single_verified` when the ledger audit passes, which recomputes the result of every trade; `dual_verified` when two independent computations of the daily marks agree as well, and funding is known for 99 % of the time of its positions; `unverified` when a result could not be recomputed, and while no trade is closed. Determined by every build. It does not show when the rules were written. */
    verification_state: "unverified" | "single_verified" | "dual_verified" | "failed";
    /** First and last day of the published series. */
    window: {
        /** First UTC day, inclusive. */
        "from": string | null;
        /** Last UTC day, inclusive. */
        to: string | null;
    };
    /** What computed the history. */
    engine: string;
    /** Where the prices come from. */
    data_source: string;
    /** Settlement currency. */
    denomination: string;
    /** The day on which the series begins. */
    inception: string;
    /** Where the method is described. */
    methodology_url: string;
    /** The costs in every figure. */
    backtest_assumptions: {
        /** Commission of each fill, basis points of notional. */
        commission_bps_per_side: number;
        /** Slippage of each fill, ticks of the instrument, always against the account. */
        slippage_ticks: number;
        /** One tick, in the quote currency. */
        tick_size: number;
        /** `historical`: each payment of the instrument is charged at the last close known at its instant, as far as `/v1/dataset` says; `none`: the operator states that the instrument has none; `as_reported`: whatever the maker of the returns charged, or of a ledger without payments of its instrument. Null in versions of older builds. */
        funding: ("historical" | "none" | "as_reported") | null;
        /** Of a ledger: by how much a given result may differ from its recomputation, and a reported day from the ledger beside it. Basis points of equity; null for other histories. */
        result_tolerance_bps: number | null;
    };
    /** Version of the strategy module: 1 to 32 letters, digits or `.`, `_`, `+`, `-`. A new one means other rules, so it is a restatement. Null for a ledger and for reported returns. */
    module_version: string | null;
    /** SHA-256 of what `sha256sum` prints for the module and all that it imports, sorted by path. Null without a module, and in versions of older builds. */
    rules_sha256: string | null;
    /** Since when rules that are the same, or declared so, are published; never later than `published_since`. Null without a module, and in versions of older builds. */
    rules_since: string | null;
    /** Each time that the files of the module changed while its version did not. */
    rules_declared_same: {
        /** UTC instant of the version with other files of the module. */
        at: string;
        /** Why the rules are the same, as the operator states it. */
        reason: string;
    }[];
    /** How the daily returns came about: open trades marked at every close; booked whole on the day of the exit, where the leverage is unknown; or reported by the maker of the history. */
    marking: "marked" | "realised" | "reported";
    /** What the build measured of the trades; null in versions of older builds. Null without such a trade. */
    measured: {
        /** Closed trades whose result was recomputed. */
        trades_checked: number;
        /** Mean of given less recomputed result, basis points of equity. 6 decimals. */
        mean_deviation_bps: number | null;
        /** The one that is furthest from 0. 6 decimals. */
        largest_deviation_bps: number | null;
        /** Trades that ended at the stop of their entry. */
        trades_at_stop: number;
        /** Median of their losses, in units of the base risk. 6 decimals. */
        loss_at_stop: number | null;
        /** What the maker of a ledger states itself in the place of the declared costs. */
        stated_costs?: {
            /** `fees`: both commissions of a trade; `funding`: positive if received. */
            cost: "fees" | "funding";
            /** Closed trades of which the ledger states it. */
            trades: number;
            /** Its mean, basis points of the notional at entry. 6 decimals. */
            mean_bps: number;
        }[];
    } | null;
    /** Days of the window without any price; their return is 0 and caught up on the next day. */
    days_without_bars: number;
};
export type StrategyAnswer = {
    /** Strategy. */
    data: Strategy;
    meta: Meta;
    links: Links;
};
export type StatsQuery = {
    /** Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by `risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. A level at which a figure would pass what a number can hold is refused. */
    risk_pct?: number;
};
export type DueDiligence = {
    /** Closed trades, each by its net return on account equity at entry. */
    trades: {
        /** Closed trades. */
        count: number;
        /** Share with a gain; a result of exactly 0 is none. Percent. */
        win_rate_pct: number | null;
        /** Gains / losses on account equity. Not recomputable from open data: needs the leverage of the trades. */
        profit_factor: number | null;
        /** Gains / losses of the closed trades per unit of notional: computed from `return_pct` of `/trades` alone. */
        profit_factor_notional: number | null;
        /** Trades with a gain. */
        wins: number;
        /** Trades with a loss. */
        losses: number;
        /** Trades of exactly 0. */
        breakeven: number;
        /** Mean result. Percent. Not recomputable from open data: needs the leverage of the trades. */
        expectancy_pct: number | null;
        /** Mean result in units of the base risk. Not recomputable from open data: needs the leverage of the trades. */
        expectancy_r: number | null;
        /** Median result. Percent. Not recomputable from open data: needs the leverage of the trades. */
        median_trade_pct: number | null;
        /** Sample standard deviation of the results. Percent. Not recomputable from open data: needs the leverage of the trades. */
        std_trade_pct: number | null;
        /** Mean of the gains. Percent. Not recomputable from open data: needs the leverage of the trades. */
        average_win_pct: number | null;
        /** Mean of the losses. Percent. Not recomputable from open data: needs the leverage of the trades. */
        average_loss_pct: number | null;
        /** Mean gain / |mean loss|. Not recomputable from open data: needs the leverage of the trades. */
        payoff_ratio: number | null;
        /** Best result. Percent. Not recomputable from open data: needs the leverage of the trades. */
        best_trade_pct: number | null;
        /** Worst result. Percent. Not recomputable from open data: needs the leverage of the trades. */
        worst_trade_pct: number | null;
        /** Worst result in units of the base risk. Not recomputable from open data: needs the leverage of the trades. */
        largest_loss_r: number | null;
        /** Longest run of gains by exit time. */
        max_consecutive_wins: number;
        /** Longest run of losses by exit time. */
        max_consecutive_losses: number;
        /** System quality number: square root of the count x mean / sample deviation of the results. Not recomputable from open data: needs the leverage of the trades. */
        sqn: number | null;
        /** Win rate - (1 - win rate) / payoff ratio: fraction of equity if a loss is one R. Not recomputable from open data: needs the leverage of the trades. */
        kelly_fraction: number | null;
        /** Mean time from entry to exit. Hours. */
        average_holding_hours: number | null;
        /** Median time from entry to exit. Hours. */
        median_holding_hours: number | null;
        /** Longest time from entry to exit. Hours. */
        max_holding_hours: number | null;
        /** Closed trades / days of the series x 365. */
        trades_per_year: number | null;
        /** Share of all gains that the five largest make. Percent. Not recomputable from open data: needs the leverage of the trades. */
        top5_wins_share_of_gross_profit_pct: number | null;
        /** The long trades. */
        long: {
            /** Closed long trades. */
            count: number;
            /** Share with a gain. Percent. */
            win_rate_pct: number | null;
            /** Gains / losses on account equity. Not recomputable from open data: needs the leverage of the trades. */
            profit_factor: number | null;
            /** Gains / losses of the closed trades per unit of notional: computed from `return_pct` of `/trades` alone. */
            profit_factor_notional: number | null;
        };
        /** The short trades. */
        short: {
            /** Closed short trades. */
            count: number;
            /** Share with a gain. Percent. */
            win_rate_pct: number | null;
            /** Gains / losses on account equity. Not recomputable from open data: needs the leverage of the trades. */
            profit_factor: number | null;
            /** Gains / losses of the closed trades per unit of notional: computed from `return_pct` of `/trades` alone. */
            profit_factor_notional: number | null;
        };
    };
    /** Return against risk, and the shape of the daily returns. */
    risk_adjusted: {
        /** Sample deviation of daily returns x the square root of 365. Percent. */
        volatility_annualized_pct: number | null;
        /** Root mean square of the negative daily returns over all days x the square root of 365. Percent. */
        downside_deviation_annualized_pct: number | null;
        /** Standard error of the annualised daily Sharpe ratio, given skew and kurtosis. */
        sharpe_std_error: number | null;
        /** Probability that the true Sharpe ratio is above 0, from 0 to 1. */
        probabilistic_sharpe_ratio: number | null;
        /** Probability that the true Sharpe ratio is above the one expected of the best of T trials without skill, from 0 to 1. */
        deflated_sharpe_ratio: number | null;
        /** Variants that the operator tried until this one was found, itself included. Not recomputable from open data: the operator declares it. */
        trials: number | null;
        /** Days of record at which the Sharpe ratio is above 0 with 95 % confidence. */
        min_track_record_days: number | null;
        /** Mean / sample deviation of complete months x the square root of 12. */
        sharpe_monthly_annualized: number | null;
        /** Sortino ratio of complete weeks x the square root of 52. */
        sortino_weekly_annualized: number | null;
        /** CAGR / |maximum drawdown|. */
        calmar: number | null;
        /** Net return / |maximum drawdown|. */
        recovery_factor: number | null;
        /** Sum of the positive / |sum of the negative| daily returns. */
        omega: number | null;
        /** Sum of complete months / |sum of the negative ones|. */
        gain_to_pain_monthly: number | null;
        /** Root mean square of the drawdown over all days. Percent. */
        ulcer_index_pct: number | null;
        /** CAGR / ulcer index. */
        ulcer_performance_index: number | null;
        /** Mean depth of the drawdown over all days. Percent. */
        pain_index_pct: number | null;
        /** |95th percentile| / |5th percentile| of daily returns. */
        tail_ratio: number | null;
        /** Third standardised population moment of daily returns. */
        skewness_daily: number | null;
        /** Fourth standardised population moment of daily returns, less 3. */
        kurtosis_excess_daily: number | null;
        /** 5th percentile of daily returns (type 7), negative for a loss. Percent. */
        var_95_daily_pct: number | null;
        /** Mean of the worst 5 % of days. Percent. */
        cvar_95_daily_pct: number | null;
        /** 1st percentile of daily returns (type 7). Percent. */
        var_99_daily_pct: number | null;
        /** Mean of the worst 1 % of days. Percent. */
        cvar_99_daily_pct: number | null;
        /** Best day. Percent. */
        best_day_pct: number | null;
        /** Worst day. Percent. */
        worst_day_pct: number | null;
        /** Share of all days with a gain. Percent. */
        positive_days_pct: number | null;
        /** Correlation of each daily return with the one before. */
        autocorrelation_lag1_daily: number | null;
        /** R squared of the cumulative log return against time. */
        stability_r2: number | null;
        /** Mean / sample variance of daily returns. */
        kelly_leverage: number | null;
    };
    /** Falls of the equity from its peaks; the opening equity is a peak. */
    drawdowns: {
        /** The five deepest drawdowns. */
        worst: {
            /** Day of the peak; it may be the day before the first. */
            peak_t: string;
            /** Day of the lowest equity. */
            trough_t: string;
            /** Day on which the peak was reached again, null while it was not. */
            recovery_t: string | null;
            /** Fall from the peak to the trough. Percent. */
            depth_pct: number;
            /** From peak to trough. */
            days_to_trough: number;
            /** From trough to recovery. */
            days_to_recovery: number | null;
            /** Days strictly below the peak. */
            underwater_days: number;
        }[] | null;
        /** Drawdowns, however shallow. */
        count: number | null;
        /** Drawdowns of two days or more: those that the averages are taken over. */
        lasting_count: number | null;
        /** Mean depth of the drawdowns of two days or more; dips of one day do not count. Percent. */
        average_depth_pct: number | null;
        /** Mean length of the drawdowns of two days or more; dips of one day do not count. Calendar days. */
        average_underwater_days: number | null;
        /** Distance of the last equity from its peak. Percent. */
        current_drawdown_pct: number | null;
        /** Length of the drawdown that is still open. Calendar days. */
        current_underwater_days: number | null;
        /** Share of days strictly below an earlier peak. Percent. */
        pct_time_underwater: number | null;
        /** Longest drawdown. Calendar days. */
        longest_days: number | null;
        /** All days under water. Calendar days. */
        total_days: number | null;
        /** Mean of the worst 5 % of the daily drawdowns. Percent. */
        cdar_95_pct: number | null;
        /** Mean of the worst 1 % of the daily drawdowns. Percent. */
        cdar_99_pct: number | null;
        /** Worst return of 7 consecutive days. Percent. */
        worst_7d_return_pct: number | null;
        /** Worst return of 30 consecutive days. Percent. */
        worst_30d_return_pct: number | null;
        /** Worst return of 90 consecutive days. Percent. */
        worst_90d_return_pct: number | null;
        /** Worst return of 365 consecutive days. Percent. */
        worst_365d_return_pct: number | null;
    };
    /** UTC calendar months. */
    monthly: {
        /** Every month that the series touches. */
        table: {
            /** UTC calendar year. */
            year: number;
            /** 1 to 12. */
            month: number;
            /** Compounded return. Percent. */
            return_pct: number;
            /** True where the series has not every day of the month. */
            partial: boolean;
        }[] | null;
        /** Complete months; all statistics below are over these. */
        complete_count: number | null;
        /** Best month. Percent. */
        best_month_pct: number | null;
        /** Worst month. Percent. */
        worst_month_pct: number | null;
        /** Mean month. Percent. */
        average_month_pct: number | null;
        /** Median month. Percent. */
        median_month_pct: number | null;
        /** Sample standard deviation. Percent. */
        std_pct: number | null;
        /** Share of months with a gain. Percent. */
        positive_months_pct: number | null;
        /** Mean of the months with a gain. Percent. */
        average_up_month_pct: number | null;
        /** Mean of the months with a loss. Percent. */
        average_down_month_pct: number | null;
        /** Longest run of months with a gain. */
        longest_up_streak_months: number | null;
        /** Longest run of months with a loss. */
        longest_down_streak_months: number | null;
        /** Best 3 consecutive months. Percent. */
        best_rolling_3m_pct: number | null;
        /** Worst 3 consecutive months. Percent. */
        worst_rolling_3m_pct: number | null;
        /** Share of the runs of 3 months with a gain. Percent. */
        positive_rolling_3m_pct: number | null;
        /** Best 12 consecutive months. Percent. */
        best_rolling_12m_pct: number | null;
        /** Worst 12 consecutive months. Percent. */
        worst_rolling_12m_pct: number | null;
        /** Share of the runs of 12 months with a gain. Percent. */
        positive_rolling_12m_pct: number | null;
    };
    /** UTC calendar years. */
    annual: {
        /** Every year that the series touches. */
        table: {
            /** UTC calendar year. */
            year: number;
            /** Compounded return. Percent. */
            return_pct: number;
            /** Deepest fall within the year; the equity at its start is a peak. Percent. */
            max_drawdown_pct: number;
            /** Annualised Sharpe ratio of its days; null below 90. */
            sharpe: number | null;
            /** Annualised volatility of its days. Percent. */
            volatility_pct: number | null;
            /** Trades closed in the year. */
            trade_count: number;
            /** Days of the series in the year. */
            days: number;
            /** True where the series has not every day of the year. */
            partial: boolean;
        }[] | null;
        /** Complete years; the statistics are over these. */
        complete_count: number | null;
        /** Best year. Percent. */
        best_year_pct: number | null;
        /** Worst year. Percent. */
        worst_year_pct: number | null;
        /** Mean year. Percent. */
        average_year_pct: number | null;
        /** Median year. Percent. */
        median_year_pct: number | null;
        /** Sample standard deviation. Percent. */
        std_pct: number | null;
        /** Share of years with a gain. Percent. */
        positive_years_pct: number | null;
        /** Mean of the years with a gain. Percent. */
        average_up_year_pct: number | null;
        /** Mean of the years with a loss. Percent. */
        average_down_year_pct: number | null;
        /** Longest run of years with a gain. */
        longest_up_streak_years: number | null;
        /** Longest run of years with a loss. */
        longest_down_streak_years: number | null;
        /** Return of the last 30 days. Percent. */
        trailing_30d_return_pct: number | null;
        /** Return of the last 90 days. Percent. */
        trailing_90d_return_pct: number | null;
        /** Return of the last 180 days. Percent. */
        trailing_180d_return_pct: number | null;
        /** Return of the last 365 days. Percent. */
        trailing_365d_return_pct: number | null;
        /** Compound annual growth rate of the last 1095 days. Percent. */
        trailing_1095d_cagr_pct: number | null;
        /** Return of the month that the series ends in. Percent. */
        mtd_pct: number | null;
        /** Return of the year that the series ends in. Percent. */
        ytd_pct: number | null;
    };
    /** How much of the time the account was in the market. */
    exposure: {
        /** Share of the window in which any position was open, the one that still is included. Percent. */
        time_in_market_pct: number | null;
        /** Share of days whose return is not 0. Percent. */
        active_days_pct: number | null;
        /** Time in positions / time of the window. */
        average_concurrent_positions: number | null;
        /** Most positions open at one time. */
        max_concurrent_positions: number | null;
        /** Share of the window in which a long position was open. Percent. */
        long_time_pct: number | null;
        /** Share of the window in which a short position was open. Percent. */
        short_time_pct: number | null;
        /** The UTC day of entry of the oldest position that is open at the end of the series; null if none is, and where only returns are reported. It ends with the window that is published, so an embargo hides newer positions. */
        open_since: string | null;
    };
    /** The strategy beside buying its instrument before the first day and holding it. */
    benchmark: {
        /** Net return of the benchmark. Percent. */
        net_return_pct: number | null;
        /** Compound annual growth rate of the benchmark. Percent. */
        cagr_pct: number | null;
        /** Deepest fall from a peak of the benchmark. Percent. */
        max_drawdown_pct: number | null;
        /** Sharpe ratio of the daily returns of the benchmark; 90 days or more. */
        sharpe_daily_annualized: number | null;
        /** Volatility of the benchmark. Percent. */
        volatility_annualized_pct: number | null;
        /** Net return less that of the benchmark. Percent. */
        excess_return_pct: number | null;
        /** CAGR less that of the benchmark. Percent. */
        excess_cagr_pct: number | null;
        /** Slope of daily returns on those of the benchmark. */
        beta: number | null;
        /** Mean daily return that beta does not explain, x 365; 90 days or more. Percent. */
        alpha_annualized_pct: number | null;
        /** Correlation of daily returns with those of the benchmark; 30 days or more. */
        correlation: number | null;
        /** Mean return of the months in which the benchmark rose, of the mean of the benchmark in them. Percent. */
        up_capture_pct: number | null;
        /** Mean return of the months in which the benchmark fell, of the mean of the benchmark in them. Percent. */
        down_capture_pct: number | null;
    };
    /** The history before and after it was first published. */
    since_publication: {
        /** Since when this history is published, the same as in `/v1/strategies/{sid}`. */
        published_since: string | null;
        /** Days up to and including that day. */
        days_before: number | null;
        /** Later days. */
        days_after: number | null;
        /** The days that were known when the history was published. */
        before: {
            /** Net return of these days. Percent. */
            net_return_pct: number | null;
            /** Compound annual growth rate of these days. Percent. */
            cagr_pct: number | null;
            /** Deepest fall from a peak of these days. Percent. */
            max_drawdown_pct: number | null;
            /** Sharpe ratio of the daily returns of these days; 90 days or more. */
            sharpe_daily_annualized: number | null;
            /** Volatility of these days. Percent. */
            volatility_annualized_pct: number | null;
        };
        /** The days after it: out of sample if bars and trades came in as they happened. */
        after: {
            /** Net return of these days. Percent. */
            net_return_pct: number | null;
            /** Compound annual growth rate of these days. Percent. */
            cagr_pct: number | null;
            /** Deepest fall from a peak of these days. Percent. */
            max_drawdown_pct: number | null;
            /** Sharpe ratio of the daily returns of these days; 90 days or more. */
            sharpe_daily_annualized: number | null;
            /** Volatility of these days. Percent. */
            volatility_annualized_pct: number | null;
        };
    };
    /** What costs took, and what would be left at twice the costs. */
    costs: {
        /** What the commissions took of the gross profit. Percent. Not recomputable from open data: needs bars and the leverage of the trades. */
        fees_pct_of_gross_profit: number | null;
        /** What the slippage took of the gross profit. Percent. Not recomputable from open data: needs bars and the leverage of the trades. */
        slippage_pct_of_gross_profit: number | null;
        /** What the funding took of the gross profit; negative if more was received than paid. Percent. Not recomputable from open data: needs bars and the leverage of the trades. */
        funding_pct_of_gross_profit: number | null;
        /** The account with each of its costs paid twice. */
        at_twice_the_costs: {
            /** Net return of the account. Percent. Not recomputable from open data: needs bars and the leverage of the trades. */
            net_return_pct: number | null;
            /** Compound annual growth rate of the account. Percent. Not recomputable from open data: needs bars and the leverage of the trades. */
            cagr_pct: number | null;
            /** Deepest fall from a peak of the account. Percent. Not recomputable from open data: needs bars and the leverage of the trades. */
            max_drawdown_pct: number | null;
            /** Sharpe ratio of the daily returns of the account; 90 days or more. Not recomputable from open data: needs bars and the leverage of the trades. */
            sharpe_daily_annualized: number | null;
        };
    };
    /** How far the price moved against the closed trades and for them while they were open. */
    excursions: {
        /** Maximum adverse excursion: how far the price went against a trade; at most 0. */
        mae_r: {
            /** Mean, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            mean: number | null;
            /** 5 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p5: number | null;
            /** 25 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p25: number | null;
            /** 50 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p50: number | null;
            /** 75 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p75: number | null;
            /** 95 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p95: number | null;
        };
        /** Maximum favourable excursion: how far the price went for a trade; at least 0. */
        mfe_r: {
            /** Mean, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            mean: number | null;
            /** 5 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p5: number | null;
            /** 25 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p25: number | null;
            /** 50 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p50: number | null;
            /** 75 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p75: number | null;
            /** 95 % quantile, in R. Not recomputable from open data: needs bars and the leverage of the trades. */
            p95: number | null;
        };
    };
    /** The module replayed at other risk levels, beside the arithmetic rescale to the same level. */
    replays: {
        /** Decisions of the module to enter at base risk, refused ones included. Not recomputable from open data: needs the module of the strategy. */
        entries_asked: number | null;
        /** Those that the leverage cap refused, because base risk / distance to the stop is above it. Not recomputable from open data: needs the module of the strategy. */
        entries_refused: number | null;
        /** A row for each level of `replayed_at` in the catalogue. */
        table: {
            /** The risk level. A fraction: 0.02 = 2 %. */
            risk_pct: number;
            /** A run of the module with its positions sized at the level. */
            replayed: {
                /** Net return of the replay. Percent. Not recomputable from open data: needs the module of the strategy. */
                net_return_pct: number | null;
                /** Compound annual growth rate of the replay. Percent. Not recomputable from open data: needs the module of the strategy. */
                cagr_pct: number | null;
                /** Deepest fall from a peak of the replay. Percent. Not recomputable from open data: needs the module of the strategy. */
                max_drawdown_pct: number | null;
                /** Sharpe ratio of the daily returns of the replay; 90 days or more. Not recomputable from open data: needs the module of the strategy. */
                sharpe_daily_annualized: number | null;
                /** Closed trades. Not recomputable from open data: needs the module of the strategy. */
                trade_count: number;
                /** Decisions of the module to enter at the level, refused ones included. Not recomputable from open data: needs the module of the strategy. */
                entries_asked: number | null;
                /** Those that the leverage cap refused, because the level / distance to the stop is above it. Not recomputable from open data: needs the module of the strategy. */
                entries_refused: number | null;
            };
            /** What `?risk_pct=` gives at the level: every daily return × level / base risk. */
            rescaled: {
                /** Net return of the rescale. Percent. */
                net_return_pct: number | null;
                /** Compound annual growth rate of the rescale. Percent. */
                cagr_pct: number | null;
                /** Deepest fall from a peak of the rescale. Percent. */
                max_drawdown_pct: number | null;
                /** Sharpe ratio of the daily returns of the rescale; 90 days or more. */
                sharpe_daily_annualized: number | null;
            };
        }[] | null;
    };
};
export type Stats = {
    /** Settlement currency. */
    ccy: string;
    /** Net return over the window. Percent, 6 decimals. */
    net_return_pct: number;
    /** Compound annual growth rate, 365 days a year; null below one year. Percent, 6 decimals. */
    cagr_pct: number | null;
    /** Deepest fall of the equity from a peak, negative; the opening equity is a peak. Percent, 6 decimals. */
    max_drawdown_pct: number;
    /** Mean / sample standard deviation of daily returns x the square root of 365; risk-free rate 0. 6 decimals. */
    sharpe_daily_annualized: number | null;
    /** Mean of daily returns / root mean square of the negative ones over all days, x the square root of 365. 6 decimals. */
    sortino_daily_annualized: number | null;
    /** Mean / sample standard deviation of the returns of complete ISO weeks x the square root of 52. 6 decimals. */
    sharpe_weekly_annualized: number | null;
    /** Days on which the equity stands strictly below its earlier peak. */
    time_underwater: {
        /** Longest run of days under water, an open one included. */
        longest_days: number;
        /** All days under water. */
        total_days: number;
    };
    /** Closed trades. */
    trade_count: number;
    /** Share of closed trades with a gain; 0 without trades. Percent, 6 decimals. */
    win_rate_pct: number;
    /** Gains / losses of the closed trades on account equity, at base risk. 6 decimals. Not recomputable from open data: needs the leverage of the trades. */
    profit_factor: number | null;
    /** Gains / losses of the closed trades per unit of notional: computed from `return_pct` of `/trades` alone. 6 decimals. */
    profit_factor_notional: number | null;
    /** Days in the series. */
    n_days: number;
    /** Complete ISO weeks in the series. */
    n_weeks: number;
    /** First day of the series. */
    start: string | null;
    /** Last day of the series. */
    end: string | null;
    /** True when the risk level takes the whole equity. */
    ruined: boolean;
    /** The day of ruin. */
    ruin_t: string | null;
    /** Largest entry leverage, notional / equity, that the risk level implies; null where none is known. 6 decimals. Not recomputable from open data: needs the leverage of the trades. */
    leverage_max: number | null;
    /** Risk level above which the engine would have refused entries, because their leverage is over the cap of the strategy; null where no leverage is known, and for reported returns. A fraction: 0.02 = 2 %. Not recomputable from open data: needs the leverage of the trades. */
    refused_above_risk_pct: number | null;
    /** For each figure that is null, the path of its field and the reason. `too_few_points`: The series, or the ledger, has fewer points than the formula needs: 90 days, 26 complete weeks or 6 complete months for what is annualised, for the Kelly figures and for trades per year. `less_than_one_year`: The series has fewer than 365 days: a month extrapolated to a year says nothing of a year. `zero_variance`: All values are the same, so there is nothing to divide by. `no_losses`: There is no loss beyond 1e-12 to divide by, or to average. `no_wins`: There is no gain beyond 1e-12 to divide by, or to average. `no_drawdown`: The equity never fell below its peak; for the averages, for no more than a day at a time. `no_trades`: There is no closed trade, and for exposure none that is open either; where only returns are reported there is none by nature. `zero_denominator`: The denominator of the formula is 0. `non_positive_sharpe`: The Sharpe ratio is not above 0, so no length of record would show that it is. `ruin`: A day took the whole equity: a ratio of nothing says nothing. `no_benchmark`: There are no bars of the instrument over these days, or the catalogue turns the comparison off. `no_trials`: The catalogue does not declare how many variants were tried. `unknown_leverage`: The leverage of a trade is unknown, or there are no bars to follow it on. `no_module`: The service runs no module of the strategy, so which entries it asked for is unknown. `not_published`: No earlier version contains the strategy with the same history. A figure that was defined after the version was published is null without a reason, and absent from its published files. */
    "undefined": {
        [key: string]: string;
    };
    fund_dd: DueDiligence;
};
export type StatsAnswer = {
    /** Statistics. */
    data: Stats;
    meta: Meta;
    links: Links;
};
export type ReturnsQuery = {
    /** Period of the returns; weeks are complete ISO weeks. */
    period?: "daily" | "weekly";
    /** Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by `risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. A level at which a figure would pass what a number can hold is refused. */
    risk_pct?: number;
    /** First day, inclusive. */
    "from"?: string;
    /** Last day, inclusive. */
    to?: string;
};
export type ReturnPoint = {
    /** UTC day of the return; for a week its Sunday. */
    t: string;
    /** Simple return of the period, a fraction; 10 significant digits. */
    ret: number;
};
export type ReturnsAnswer = {
    /** The returns, ascending; weeks are complete ISO weeks only. */
    data: ReturnPoint[];
    meta: Meta;
    links: Links;
};
export type CurveQuery = {
    /** Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by `risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. A level at which a figure would pass what a number can hold is refused. */
    risk_pct?: number;
};
export type CurvePoint = {
    /** UTC day at whose end the equity stands. */
    t: string;
    /** Equity, 1.0 at the close before the first point; 10 significant digits. */
    equity: number;
};
export type CurveAnswer = {
    /** The equity curve, ascending. */
    data: CurvePoint[];
    meta: Meta;
    links: Links;
};
export type RollingQuery = {
    /** Modelled risk per trade as a fraction of equity: `0.02` = 2 %. Every base return is multiplied by `risk_pct / base_risk_pct`. Values above `max_modelled_risk_pct` are lowered to it, and `meta` says so. A level at which a figure would pass what a number can hold is refused. */
    risk_pct?: number;
};
export type RollingRow = {
    /** Last UTC day of the window. */
    t: string;
    /** Compounded return. Percent, 10 significant digits. */
    return_pct: number | null;
    /** Annualised volatility. Percent, 10 significant digits. */
    volatility_pct: number | null;
    /** Annualised Sharpe ratio, 10 significant digits. */
    sharpe: number | null;
    /** Slope of the returns on those of the instrument, 10 significant digits. */
    beta: number | null;
};
export type RollingAnswer = {
    /** One row for each day from the 365th on, ascending; none if the series is shorter. */
    data: RollingRow[];
    meta: Meta;
    links: Links;
};
export type Trade = {
    /** Direction of the position. */
    side: "long" | "short";
    /** Instant of the entry, epoch milliseconds UTC. */
    entry_time: number;
    /** Fill price of the entry, rounded to the tick of the instrument. */
    entry_price: number;
    /** Instant of the exit, epoch milliseconds UTC. */
    exit_time: number;
    /** Fill price of the exit, rounded to the tick of the instrument. */
    exit_price: number;
    /** Exit minus entry, days, 6 decimals. */
    duration_days: number;
    /** Return per unit of notional after all costs; after commission alone if the ledger has no other costs. Percent, 6 decimals. */
    return_pct: number;
    /** Sign of what the trade did to the equity, as the win rate counts it. */
    result: "win" | "loss" | "breakeven";
    /** Coarse category of the exit. */
    exit_reason: "stop" | "signal" | "time" | "target" | "liquidation";
};
export type TradesAnswer = {
    /** Closed trades, by entry time and then exit time. */
    data: Trade[];
    meta: Meta;
    links: Links;
};
export type Version = {
    /** Version of this interface. */
    api_version: string;
    /** `stable`: removals and renames come under a new major path only. */
    stability: string;
    /** The dataset version served now. */
    dataset_version: string | null;
    /** Whether that version alters history that the one before had published. */
    history_restated: boolean | null;
    /** When that version was made. */
    generated_utc: string | null;
    /** Earliest and latest day of any series. */
    window: {
        /** First UTC day, inclusive. */
        "from": string | null;
        /** Last UTC day, inclusive. */
        to: string | null;
    };
    /** The cap of `risk_pct`. A fraction: 0.02 = 2 %. */
    max_modelled_risk_pct: number | null;
};
export type VersionAnswer = {
    /** Versions. */
    data: Version;
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
