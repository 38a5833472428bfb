//! Redis: commands in, one a line, their effects on keys out.

use super::HASHES;
use crate::analysis::Analysis;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;

const READ: &[&str] = &[
    "GET",
    "MGET",
    "KEYS",
    "SCAN",
    "INFO",
    "PING",
    "EXISTS",
    "TTL",
    "PTTL",
    "TYPE",
    "STRLEN",
    "HGET",
    "HGETALL",
    "HMGET",
    "HKEYS",
    "HVALS",
    "HLEN",
    "HEXISTS",
    "HSCAN",
    "LRANGE",
    "LLEN",
    "LINDEX",
    "SMEMBERS",
    "SCARD",
    "SISMEMBER",
    "SSCAN",
    "SRANDMEMBER",
    "SINTER",
    "SUNION",
    "SDIFF",
    "ZRANGE",
    "ZREVRANGE",
    "ZRANGEBYSCORE",
    "ZSCORE",
    "ZCARD",
    "ZCOUNT",
    "ZRANK",
    "ZSCAN",
    "DBSIZE",
    "TIME",
    "LASTSAVE",
    "ECHO",
    "RANDOMKEY",
    "DUMP",
    "BITCOUNT",
    "GETRANGE",
    "GETBIT",
    "PFCOUNT",
    "XRANGE",
    "XREVRANGE",
    "XLEN",
    "XINFO",
    "XREAD",
    "ROLE",
    "COMMAND",
    "HELLO",
    "AUTH",
    "SELECT",
    "MONITOR",
    "SUBSCRIBE",
    "PSUBSCRIBE",
    "LOLWUT",
    "EXPIRETIME",
    "ZMSCORE",
    "GEOPOS",
    "GEODIST",
    "GEOSEARCH",
    "TOUCH",
    "HRANDFIELD",
];
const DELETE: &[&str] = &[
    "DEL",
    "UNLINK",
    "FLUSHALL",
    "FLUSHDB",
    "HDEL",
    "LPOP",
    "RPOP",
    "SPOP",
    "SREM",
    "ZREM",
    "ZPOPMIN",
    "ZPOPMAX",
    "LTRIM",
    "LREM",
    "GETDEL",
    "XDEL",
    "XTRIM",
    "ZREMRANGEBYSCORE",
    "ZREMRANGEBYRANK",
    "SHUTDOWN",
    "BLPOP",
    "BRPOP",
    "ZREMRANGEBYLEX",
];
const CREATE: &[&str] = &[
    "MSET", "SETNX", "SETEX", "HSET", "HMSET", "LPUSH", "RPUSH", "SADD", "ZADD", "XADD", "APPEND",
    "PFADD", "GEOADD", "SAVE", "BGSAVE", "PUBLISH", "COPY", "RESTORE",
];
const UPDATE: &[&str] = &[
    "SET",
    "INCR",
    "DECR",
    "INCRBY",
    "DECRBY",
    "EXPIRE",
    "PEXPIRE",
    "EXPIREAT",
    "PERSIST",
    "RENAME",
    "RENAMENX",
    "GETSET",
    "GETEX",
    "HINCRBY",
    "LSET",
    "LINSERT",
    "SETRANGE",
    "SETBIT",
    "ZINCRBY",
    "MOVE",
    "SMOVE",
    "RPOPLPUSH",
    "REPLICAOF",
    "SLAVEOF",
    "BGREWRITEAOF",
];

/// A script calls commands by their names.
fn analyze_lua(analysis: &mut Analysis, arg: &Arg, line: &str) {
    let calls: Vec<&str> = line
        .match_indices("call(")
        .map(|(at, mark)| &line[at + mark.len()..])
        .collect();
    for call in &calls {
        let Some(quote) = call.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            analysis.add_finding(Effect::Code, arg.span, "a script calls a computed function");
            continue;
        };
        let name = call[1..].split(quote).next().unwrap_or("");
        analyze_into(analysis, &arg.with_text(name));
    }
    // Every mention of a function that runs commands is a call, and no other name leads to commands.
    let elsewhere = ["_G", "_ENV", "fenv", "load", "require"];
    if calls.len() != line.matches("redis").count()
        || elsewhere.iter().any(|name| line.contains(name))
        || line.contains(UNKNOWN)
    {
        analysis.add_finding(Effect::Code, arg.span, "a script that is not followed");
    }
}

/// Returns the effects of commands.
pub(super) fn analyze(arg: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    analyze_into(&mut analysis, arg);
    analysis
}

fn analyze_into(analysis: &mut Analysis, arg: &Arg) {
    for line in arg.text.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("").to_ascii_uppercase();
        let second = words.next().unwrap_or("").to_ascii_uppercase();
        let is_in = |list: &[&str]| list.contains(&name.as_str());
        if name == "EVAL" || name == "EVAL_RO" {
            analyze_lua(analysis, arg, line);
            continue;
        }
        let effect = if name.contains(UNKNOWN) {
            Effect::Unknown
        } else if is_in(READ) {
            Effect::Read
        } else if is_in(DELETE) {
            Effect::Delete
        } else if is_in(CREATE) {
            Effect::Create
        } else if is_in(UPDATE) {
            Effect::Update
        } else {
            match (name.as_str(), second.as_str()) {
                ("CONFIG", "GET")
                | ("CLIENT", "LIST" | "INFO" | "GETNAME" | "ID")
                | ("SLOWLOG", "GET" | "LEN")
                | ("MEMORY", "USAGE" | "STATS" | "DOCTOR")
                | ("OBJECT" | "LATENCY", _)
                | ("CLUSTER", "INFO" | "NODES" | "SLOTS" | "MYID" | "SHARDS")
                | ("ACL", "LIST" | "GETUSER" | "WHOAMI" | "USERS" | "CAT")
                | ("PUBSUB", _)
                | ("MODULE" | "FUNCTION" | "SCRIPT", "LIST" | "EXISTS")
                    if second != "RESET" =>
                {
                    Effect::Read
                }
                ("ACL", "DELUSER") => Effect::Delete,
                ("CONFIG", _) | ("CLIENT", _) | ("CLUSTER", _) | ("ACL", _) => Effect::Update,
                ("SCRIPT", "FLUSH") | ("FUNCTION", "FLUSH" | "DELETE") => Effect::Delete,
                ("SORT", _) if !line.to_ascii_uppercase().contains(" STORE ") => Effect::Read,
                _ => Effect::Unknown,
            }
        };
        let printed = |word: &str| {
            word.contains(['*', '?', '[']) || word.contains("pass") || word.contains("auth")
        };
        if (name.as_str(), second.as_str()) == ("CONFIG", "GET")
            && printed(&line.to_ascii_lowercase())
        {
            analysis.require_confirmation(arg.span, "prints the passwords of the server");
        }
        if name == "ACL" && matches!(second.as_str(), "LIST" | "GETUSER") {
            analysis.require_confirmation(arg.span, HASHES);
        }
        analysis.add_finding(effect, arg.span, format!("Redis runs `{name}`"));
    }
}
