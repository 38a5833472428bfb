//! Secrets of single programs: options with a different meaning for other programs, operands, and
//! standard input. Returns masking rules.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::precondition::Precondition::{Any, AnyWith};
use super::precondition::READS;
use super::rule::PatternSource::Built;
use super::rule::{
    MaskRule, QUOTED, VALUE, always, literal, literal_no_option, of_a_setting, secret,
};

/// Commands that make a program read a password from its standard input.
const READERS: &str = r"(?:\bsudo\s+(?:-[a-zA-Z-]+\s+)*-\w*S|password-stdin|with-token|--stdin|-stdin|\bchpasswd|\bnewusers|\bcryptsetup|\bpasswd\b|\bvncpasswd|\bsmbpasswd|\bpdbedit|passphrase-fd|\bkinit\b|\bkpasswd|\bht(?:passwd|digest)\b|\bsu\s|\bmkpasswd\b|\bwpa_passphrase\b|\bssh-add\b|\bsecret-tool\s+store|\b(?:go)?pass\s+(?:insert|otp)|\bgpg-preset-passphrase|\bkadmin(?:\.local)?\b|\bkeyctl\s+padd|\bdoas\b|\b(?:gocryptfs|encfs|cryfs|securefs|veracrypt|truecrypt|ecryptfs-\S+)\b|\bzfs\s+load-key|\blpass\s+login|\bop\s+signin|\bkeepassxc-cli\b|\bsystemd-creds\s+encrypt|\bsecurity\s+unlock-keychain|\bwg\s+(?:pubkey|set)\b|\bx11vnc\s+-storepasswd|\bconfig\s+set\s+--secret|\bopenssl\s+[^|;&\n]*?-(?:pass(?:in|out)?\s+(?:stdin|fd:0)|stdin)|\bvault\s+login\s+-|\brclone\s+obscure\s+-|--unlock\b|\bbw\s+unlock|\bsecrets?\s+(?:set|put|create|add|versions\s+add)\b|\bkeyring\s+set\b|\bvercel\s+env\s+add\b|\\+password\b)";

/// Part of a here-document that is a secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PasswordReader {
    /// Lines of accounts: the text after the first colon.
    Accounts,
    /// The first line; the program may run the others.
    FirstLine,
    Lines,
}

impl PasswordReader {
    /// Returns how a command reads its here-document, if that contains passwords.
    pub(super) fn of(line: &str) -> Option<Self> {
        static READS: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(READERS).expect("the pattern is part of this file"));
        let found = READS.find(line)?.as_str();
        Some(match found {
            "chpasswd" | "newusers" => Self::Accounts,
            _ if found.starts_with("su") || found == "doas" => Self::FirstLine,
            _ => Self::Lines,
        })
    }
}

pub(super) fn rules() -> Vec<MaskRule> {
    let mut rules = options();
    rules.extend(places());
    rules.extend(inputs());
    rules.extend(networks());
    rules.extend(typed());
    rules.extend(seeds());
    rules
}

/// Matches a short option of a program in the same command.
fn of_program(programs: &str, option: &str) -> String {
    format!(r"\b(?:{programs})\b[^;|&\n]*?\s-{option}\s*({VALUE})")
}

/// Returns `false` if the value is the rest of a long option: `-password`, `-port`.
fn no_long_option(captures: &Captures<'_>, text: &str) -> bool {
    let whole = captures.get(0).map_or("", |group| group.as_str());
    let before = whole.strip_suffix(text).unwrap_or(whole);
    let is_rest = ["assw", "assphrase", "ort", "rofile", "roject"]
        .iter()
        .any(|rest| text.starts_with(rest));
    !(is_rest && before.ends_with(['p', 'P'])) && literal_no_option(captures, text)
}

/// Matches a name and a password after an option. The name is optional and kept.
fn pair(option: &str) -> String {
    format!(r#"{option}(?:"(?:[^":]*:)?([^"]+)"|'(?:[^':]*:)?([^']+)'|(?:[^\s:"']*:)?({VALUE}))"#)
}

/// Short options that only these programs use for a password.
fn options() -> Vec<MaskRule> {
    vec![
        secret(
            Any(&[
                "mysql",
                "mariadb",
                "mycli",
                "xtrabackup",
                "mariabackup",
                "7z",
                "rar",
                "sshpass",
            ]),
            Built(|| format!(
                r"\b(?:mysql|mariadb|mycli|xtrabackup|mariabackup|7z|7za|7zr|rar|unrar|sshpass)[\w.-]*\s(?:[^;|&\n]*?\s)?-h?p({VALUE})"
            )),
            literal,
        ),
        secret(
            Any(&["7z", "rar"]),
            r#"\b(?:7z|7za|7zr|rar|unrar)\s[^;|&\n]*?\s(?:"-h?p([^"]+)"|'-h?p([^']+)')"#,
            literal,
        ),
        secret(
            Any(&[
                "sshpass", "mongo", "login", "cqlsh", "influx", "sqlcmd", "bcp", "isql", "osql",
                "tsql", "sqsh", "mycli", "cypher-shell", "twine", "psexec", "rdesktop", "hdbsql", "ncftp",
            ]),
            Built(|| of_program(
                r"sshpass|mongo\w*|az\s+login|cqlsh|influx|sqlcmd|bcp|isql|osql|tsql|sqsh|mycli|cypher-shell|twine|psexec\d*|rdesktop|hdbsql|ncftp\w*|(?:docker|podman|nerdctl|helm|buildah|skopeo|oras|crane|oc|cf|ibmcloud)\b[^;|&\n]*?\blogin",
                "[pP]",
            )),
            no_long_option,
        ),
        secret(
            Any(&[
                "uv", "poetry", "veracrypt", "truecrypt", "zulucrypt", "rabbitmqadmin", "cb", "crackmapexec",
                "cme", "nxc", "netexec", "evil-winrm", "smbmap", "certipy", "bloodhound", "enum4linux", "medusa",
                "ldapdomaindump", "beeline", "sqlline", "sendxmpp", "racadm", "ilorest", "openfortivpn",
                "altool", "mutool", "msoffcrypto", "steghide", "aescrypt", "tpm2_", "isql-fb",
                "unlock-keychain", "create-keychain", "pkcs11-tool", "winrs", "couchbase",
            ]),
            Built(|| of_program(
                r"(?:uv|poetry)\s+publish|veracrypt|truecrypt|zuluCrypt-cli|rabbitmqadmin|cb(?:q|import|export|restore|transfer|backupmgr)|couchbase-cli|crackmapexec|cme|nxc|netexec|evil-winrm|smbmap|certipy(?:-ad)?|bloodhound-python|enum4linux(?:-ng)?|medusa|ldapdomaindump|beeline|sqlline|sendxmpp|racadm|ilorest|openfortivpn|altool|mutool|msoffcrypto-tool|steghide|aescrypt|tpm2_\w+|isql-fb|security\s+(?:unlock|create)-keychain|pkcs11-tool|winrs",
                "p",
            )),
            literal_no_option,
        ),
        secret(
            Any(&["zip", "ipmitool", "mosquitto", "cbc", "exaplus", "p4", "ykman", "piv-tool", "mqttx", "dscl", "security"]),
            Built(|| of_program(
                r"zip|unzip|zipcloak|ipmitool|mosquitto_\w+|cbc(?:-\w+)?|exaplus|p4|ykman|yubico-piv-tool|mqttx|dscl|security\s+import",
                "P",
            )),
            literal_no_option,
        ),
        secret(
            Any(&["kadmin", "vsql", "pk12util", "generic-password", "internet-password"]),
            Built(|| of_program(
                r"kadmin(?:\.local)?|vsql|pk12util|security\s+add-(?:generic|internet)-password",
                "w",
            )),
            literal_no_option,
        ),
        secret(
            Any(&["pk12util", "ccrypt"]),
            Built(|| of_program("pk12util|ccrypt", "[WK]")),
            literal_no_option,
        ),
        secret(
            Any(&["swaks", "sendemail", "nzsql", "nzload", "xe", "gsec", "gbak"]),
            Built(|| format!(
                r"\b(?:swaks\b[^;|&\n]*?\s-ap|sendemail\b[^;|&\n]*?\s-xp|(?:nzsql|nzload|xe)\b[^;|&\n]*?\s-pw|(?:gsec|gbak)\b[^;|&\n]*?\s-pas?)\s+({VALUE})"
            )),
            literal_no_option,
        ),
        secret(
            Any(&["partition-list"]),
            Built(|| of_program(r"security\s+set-key-partition-list", "k")),
            literal_no_option,
        ),
        secret(
            Any(&["signtool"]),
            Built(|| format!(r"(?i)\bsigntool\b[^;|&\n]*?\s[/-]p\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["source"]),
            Built(|| of_program(r"nuget\s+(?:add|update)\s+source", "p")),
            literal_no_option,
        ),
        secret(
            Any(&["hashes"]),
            Built(|| format!(r"\s-{{1,2}}hashes[ =]({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["uv", "rancher", "login"]),
            Built(|| of_program(r"uv\s+publish|rancher\s+login|(?:glab|tea)\b[^;|&\n]*?\slogin", "t")),
            literal_no_option,
        ),
        secret(
            Any(&["<("]),
            Built(|| format!(
                r"<\(\s*(?:echo|printf)\s+(?:-[a-zA-Z]+\s+|'%s\S*'\s+|\x22%s\S*\x22\s+|%s\S*\s+)*({VALUE})"
            )),
            literal,
        )
        .within(r"\bsecrets?\s+(?:set|put|create|add|versions)\b[^;|&\n]*"),
        // A file whose name shows its content.
        secret(
            AnyWith(&["echo", "printf"], |c| c == '>'),
            r#"(?i)\b(?:echo|printf)\s+(?:-[a-zA-Z]+\s+|'%s\S*'\s+|\x22%s\S*\x22\s+|%s\S*\s+)*(?:["'][^\s"'\\]+\\n([^\s"'\\]+)(?:\\n)?["']|["'](?:passw(?:or)?d|passphrase|secret|token)[ \t]+([^\s"'\\]+)["']|([^\s;|&<>)"'`\\]+|"[^\s"]+"|'[^\s']+'))\s*>+\s*[^\s;|&]*(?:passw(?:or)?d|passphrase|pass|secret|token|cred(?:ential)?s?|auth)(?:\.txt|\.key|[_.-]?file)?(?:["']?\s*(?:[;&|)\n]|\z))"#,
            |captures, text| {
                let whole = captures.get(0).map_or("", |group| group.as_str());
                !whole.contains("pgpass") && !text.contains("://") && literal(captures, text)
            },
        ),
        // A command that prints the secret.
        secret(
            Any(&["command", "cmd", "eval", "helper", "process"]),
            Built(|| format!(
                r"(?i)(?:pass|secret|token|key|auth|cred|pin)[\w.-]*(?:command|cmd|eval|helper|process)[ =]+['\x22]?(?:echo|printf)\s+(?:-[a-zA-Z]+\s+|%s\S*\s+)*({VALUE})"
            )),
            literal_no_option,
        ),
        // `user:password`, or the password alone.
        secret(
            Any(&["creds"]),
            Built(|| pair(r"\s--(?:src-|dest-)?creds[ =]")),
            literal_no_option,
        ),
        secret(
            Any(&["http", "xh"]),
            Built(|| pair(r"\s(?:-a\s*|--auth[ =])")),
            literal_no_option,
        )
        .within(r"\b(?:https?|httpie|xhs?)\s[^;|&\n]*"),
        // `user:password@host` and `domain/user:password@host`, without a scheme.
        secret(
            Any(&["impacket", ".py", "exec", "secretsdump", "mysqlsh", "usql", "mongo", "curl", "wget", "http", "xh", "lftp", "ftp"]),
            r#"\s["']?(?:[\w.-]+[/\\]+)?[\w.$+-]+:((?:'[^'\n]*'|"[^"\n]*"|[^\s"':@])+)@[A-Za-z0-9\[]"#,
            |captures, text| !text.starts_with("//") && literal(captures, text),
        )
        .within(
            r"\b(?:impacket-[\w-]+|[\w-]*(?:exec|dump|client|get\w+|Get\w+|lookupsid|services|reg|ticketer|addcomputer|rpcmap)\.py|(?:ps|wmi|smb|at|dcom)exec|secretsdump|mssqlclient|mysqlsh|usql|mongo\w*|curl|wget|https?|xhs?|lftp|ftp)\s[^;|&\n]*",
        ),
        // Files that are the output of a command that prints the secret.
        secret(
            Any(&["<("]),
            Built(|| format!(
                r"(?i)\b[\w-]*(?:pass|secret|token|key|cred|auth|seed|psk)[\w-]*[ =]+(?:file:|@)?<\(\s*(?:echo|printf)\s+(?:-[a-zA-Z]+\s+|'%s\S*'\s+|\x22%s\S*\x22\s+|%s\S*\s+)*({VALUE}(?:[ \t]+{VALUE})*)"
            )),
            literal,
        ),
        secret(
            Any(&["redis-cli", "valkey-cli", "keydb-cli"]),
            Built(|| of_program("(?:redis|valkey|keydb)-cli", "a")),
            literal_no_option,
        ),
        secret(
            Any(&["ldap"]),
            Built(|| of_program(r"ldap\w+", "w")),
            literal_no_option,
        ),
        secret(
            Any(&["ldappasswd", "slappasswd"]),
            Built(|| format!(r"\s-[sa]\s*({VALUE})")),
            literal_no_option,
        )
        .within(r"\b(?:ldappasswd|slappasswd)\b[^;|&\n]*"),
        secret(
            Any(&["openssl"]),
            Built(|| of_program("openssl", r"(?:[kK]|hmac)\s")),
            literal_no_option,
        ),
        secret(Any(&["pass:"]), Built(|| format!(r"\bpass:({VALUE})")), literal),
        secret(
            Any(&["key:"]),
            Built(|| format!(r"\bmacopt\s+(?:hex)?key:({VALUE})")),
            literal,
        ),
        // `-storepass x`, but not `-storepass:env NAME`.
        secret(
            Any(&["storepass", "keypass"]),
            Built(|| format!(r"(?i)(?:^|\s)-{{1,2}}(?:src|dest)?(?:store|key)pass(?:wd)?[ =]+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["keytool"]),
            Built(|| of_program("keytool", "new")),
            literal_no_option,
        ),
        secret(
            Any(&["useradd", "usermod", "adduser", "groupadd", "groupmod"]),
            Built(|| format!(r"\s-[a-zA-Z]*p\s*({VALUE})")),
            literal_no_option,
        )
        .within(r"\b(?:useradd|usermod|adduser|groupadd|groupmod)\b[^;|&\n]*"),
        secret(
            Any(&["ssh-keygen"]),
            Built(|| format!(r"\s-[NP]\s*({VALUE})")),
            literal_no_option,
        )
        .within(r"\bssh-keygen\b[^;|&\n]*"),
        secret(
            AnyWith(&["pw"], char::is_whitespace),
            Built(|| format!(r"\s-[uo]?pw\s+({VALUE})")),
            literal_no_option,
        )
        .within(r"\b(?:plink|pscp|psftp|putty|pdf\w+|kadmin(?:\.local)?)\b[^;|&\n]*"),
        secret(
            Any(&["snmp"]),
            Built(|| format!(r"\s-[AXc]\s*({VALUE})")),
            literal_no_option,
        )
        .within(r"\bsnmp\w+\s[^;|&\n]*"),
        secret(
            Any(&["nuget", "gem"]),
            Built(|| of_program(r"nuget|gem\s+push", "k")),
            literal_no_option,
        ),
        secret(
            Any(&["/p:"]),
            Built(|| format!(r"\b(?:x?freerdp\d*|wlfreerdp)\b[^;|&\n]*?\s/p:({VALUE})")),
            literal,
        ),
        secret(
            Any(&["doveadm"]),
            Built(|| of_program(r"doveadm\s+pw", "p")),
            literal_no_option,
        ),
        secret(
            Any(&["plaintext"]),
            Built(|| format!(r"\bcaddy\b[^;|&\n]*?\s--?plaintext[ =]({VALUE})")),
            literal_no_option,
        ),
        // `curl -E cert:password`
        secret(
            Any(&["curl"]),
            Built(|| format!(
                r#"\s(?:-[a-wyzA-WYZ]*E\s*|--(?:proxy-)?cert[ =])(?:"[^":]*:([^"]+)|'[^':]*:([^']+)|[^\s:"']+:({VALUE}))"#
            )),
            |captures, text| !text.starts_with("//") && literal(captures, text),
        )
        .within(r"\bcurl\b[^;|&\n]*"),
        secret(
            Any(&["curl"]),
            r#"\s-b\s*(?:"([^"=]+=[^"]+)|'([^'=]+=[^']+)|([^\s"'=]+=[^\s"']+))"#,
            literal,
        )
        .within(r"\bcurl\b[^;|&\n]*"),
        // `user%password`, `user,password`
        secret(
            Any(&["%"]),
            Built(|| format!(r"(?:^|\s)--user[ =][^\s%]+%({VALUE})")),
            literal,
        ),
        secret(
            Any(&["%"]),
            r#"\b(?:user(?:name)?=|wbinfo\s+(?:-a\s*|--authenticate[ =])['"]?)[^\s,%'"=]+%([^\s,'"]+)"#,
            literal,
        ),
        secret(
            Any(&["lftp", "open"]),
            Built(|| format!(r"\b(?:lftp|open)\b[^;|&\n]*?\s-u\s*[^\s,]+,({VALUE})")),
            literal,
        ),
    ]
}

/// Secrets among the operands of programs.
fn places() -> Vec<MaskRule> {
    vec![
        secret(
            Any(&["networksetup"]),
            Built(|| format!(
                r"(?i)\bnetworksetup\s+-(?:setairportnetwork\s+\S+\s+{VALUE}|addpreferredwirelessnetworkatindex\s+\S+\s+{VALUE}\s+\S+\s+\S+|setpppoepassword\s+{VALUE}|set\w*proxy\s+{VALUE}\s+\S+\s+\S+\s+on\s+\S+)\s+({VALUE})"
            )),
            literal,
        ),
        secret(
            Any(&["dscl"]),
            Built(|| format!(r"\bdscl\b[^;|&\n]*?\s-?passwd\s+\S+\s+({VALUE}(?:[ \t]+{VALUE})?)")),
            literal,
        ),
        secret(
            Any(&["put-parameter"]),
            Built(|| format!(r"\s--value[ =]({VALUE})")),
            |captures, text| {
                let text = text.trim_start_matches(['"', '\'']);
                !text.starts_with("file://") && literal(captures, text)
            },
        )
        .within(
            r"\bssm\s+put-parameter\b[^;|&\n]*\bSecureString\b[^;|&\n]*",
        ),
        secret(
            Any(&["user-secrets"]),
            Built(|| format!(r"\buser-secrets\s+set\s+(?:--?(?:p|project|id|file|c|configuration)[ =]\S+\s+|-\S+\s+)*{VALUE}\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["alias", "config"]),
            Built(|| format!(
                r"\bmc(?:li)?\s+(?:alias\s+set|config\s+host\s+add)\s+(?:-\S+\s+)*\S+\s+\S+\s+{VALUE}\s+({VALUE})"
            )),
            literal_no_option,
        ),
        secret(
            Any(&["admin"]),
            Built(|| format!(r"\bmc(?:li)?\s+admin\s+user\s+add\s+\S+\s+{VALUE}\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["keyctl"]),
            Built(|| format!(r"\bkeyctl\s+(?:add\s+\S+\s+{VALUE}|p?update\s+\S+)\s+({VALUE})")),
            literal,
        ),
        // The option has no value: the words are a name and a value.
        secret(
            Any(&["pulumi"]),
            Built(|| format!(r"\bconfig\s+set(?:\s+-\S+)*\s+[^-\s]\S*(?:\s+-\S+)*\s+({VALUE})")),
            literal_no_option,
        )
        .within(r"\bpulumi\b[^;|&\n]*--secret\b[^;|&\n]*"),
        secret(
            Any(&["rclone"]),
            Built(|| format!(r"(?i)\s(?:pass|\w*(?:passw|secret|token|_key)\w*)\s+({VALUE})")),
            of_a_setting,
        )
        .within(r"\brclone\s+config\s+(?:create|update|password)\s[^;|&\n]*"),
        secret(
            Any(&["sops"]),
            Built(|| format!(r"\bsops\s+set\s+(?:-\S+\s+)*\S+\s+{VALUE}\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["radtest"]),
            Built(|| format!(r"\bradtest\s+(?:-\w\s+\S+\s+)*{VALUE}\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["using"]),
            Built(|| format!(r"(?i)\b(?:connect|attach)\s+to\s+\S+\s+user\s+\S+\s+using\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["vault"]),
            Built(|| format!(r"\bvault\s+login\s+(?:-\S+\s+)*({VALUE})")),
            |captures, text| !text.contains('=') && literal_no_option(captures, text),
        ),
        secret(
            Any(&["vault", "bao"]),
            Built(|| format!(r"\s[\w./][\w./-]*=({VALUE})")),
            |captures, text| {
                let whole = captures.get(0).map_or("", |group| group.as_str());
                let name = whole.trim_start().split('=').next().unwrap_or_default();
                let is_shown = [
                    "username", "role", "policies", "token_policies", "ttl", "max_ttl", "type", "description",
                    "method", "path", "mount",
                ];
                !is_shown.contains(&name) && !text.starts_with('@') && literal(captures, text)
            },
        )
        .within(r"\b(?:vault|bao)\s+(?:kv\s+)?(?:put|patch|write|login)\b[^;|&\n]*"),
        secret(
            Any(&["secret"]),
            Built(|| format!(r"\s[A-Za-z_]\w*=({VALUE})")),
            literal,
        )
        .within(r"\bsecrets?\s+(?:set|import|put|add|create)\s[^;|&\n]*"),
        secret(
            Any(&["passwd"]),
            Built(|| format!(
                r"\b(?:ht|mosquitto_)passwd\s+(?:-\S+\s+(?:[0-9]+\s+)?)*-[a-zA-Z]*b[a-zA-Z]*\s+(?:-\S+\s+(?:[0-9]+\s+)?)*(?:[^-\s]\S*\s+){{1,2}}({VALUE})\s*(?:$|[;|&>)\n])"
            )),
            literal_no_option,
        ),
        secret(
            Any(&["mkpasswd"]),
            Built(|| format!(
                r"\bmkpasswd(?:\s+-[mSRC]\s*[^\s-]\S*|\s+--(?:method|salt|rounds)[ =]\S+|\s+-\S+)*\s+({VALUE})"
            )),
            literal_no_option,
        ),
        secret(
            Any(&["openssl"]),
            Built(|| format!(r"\bopenssl\s+passwd(?:\s+-(?:salt|in)\s+\S+|\s+-\w+)*\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["wpa_passphrase"]),
            Built(|| format!(r"\bwpa_passphrase\s+{VALUE}\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["set_network"]),
            Built(|| format!(r"\bset_network\s+[0-9]+\s+(?:psk|password|wep_key[0-9])\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["nmcli"]),
            Built(|| format!(
                r"(?i)\s(?:psk|password|passwd|[\w-]+\.[\w-]*(?:psk|password|passwd|wep-key[0-9]?|pin|secrets?))\s+({VALUE})"
            )),
            literal,
        )
        .within(r"\bnmcli\b[^;|&\n]*"),
        secret(
            Any(&["iwconfig"]),
            Built(|| format!(r"\biwconfig\s+\S+\s+key\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["smbclient"]),
            Built(|| format!(r"\bsmbclient\s+(?://|\\\\)\S+\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["net"]),
            Built(|| format!(r"(?i)\bnet\s+use\s+(?:\w:\s+|\*\s+)?['\x22]?\\{{2,}}\S+\s+(?:/user:\S+\s+)?({VALUE})")),
            |_, text| !text.starts_with(['/', '*']),
        ),
        secret(
            Any(&["net"]),
            Built(|| format!(r"(?i)\bnet\s+user\s+[^/\s]\S*\s+({VALUE})")),
            |_, text| !text.starts_with(['/', '*']),
        ),
        secret(
            Any(&["schtasks"]),
            Built(|| format!(r"(?i)\bschtasks\b[^;|&\n]*?\s/rp\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["mysqladmin", "mariadb-admin"]),
            Built(|| format!(r"\b(?:mysqladmin|mariadb-admin)\b[^;|&\n]*?\spassword\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["rabbitmqctl"]),
            Built(|| format!(
                r"\brabbitmqctl\b[^;|&\n]*?\s(?:add_user|change_password|authenticate_user)\s+{VALUE}\s+({VALUE})"
            )),
            literal,
        ),
        secret(
            Any(&["bw"]),
            Built(|| format!(r"\bbw\s+(?:unlock\s+|login\s+[^-\s]\S*\s+)({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["rclone"]),
            Built(|| format!(r"\brclone\s+obscure\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["cargo"]),
            Built(|| format!(r"\bcargo\s+login\s+(?:--registry[ =]\S+\s+)?({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["authtoken"]),
            Built(|| format!(r"\b(?:add-)?authtoken\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["encrypt_string", "unseal", "set-initial-password"]),
            Built(|| format!(r"\b(?:encrypt_string|operator\s+unseal|set-initial-password)\s+({VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["qpdf"]),
            Built(|| format!(r"\bqpdf\b[^;|&\n]*?--encrypt\s+({VALUE}\s+{VALUE})")),
            literal_no_option,
        ),
        secret(
            Any(&["_pw"]),
            Built(|| format!(r"\b(?:user|owner|input)_pw\s+({VALUE})")),
            literal,
        ),
        // Settings with name and value in separate words.
        secret(
            Any(&["config"]),
            Built(|| format!(
                r#"(?i)\bconfig(?:ure)?\s+(?:set\s+|add\s+|-\S+\s+)*["']?[\w./:@-]*(?:token|secret|passw(?:or)?d|api_?key|_auth|authtoken|accesskey|access_key|private_?key)[\w.-]*["']?\s+({VALUE})"#
            )),
            of_a_setting,
        ),
        secret(
            Any(&["http-basic"]),
            Built(|| format!(r"\bhttp-basic\.\S+\s+{VALUE}\s+({VALUE})")),
            literal,
        ),
        secret(
            Any(&["set", "env add", "env:add"]),
            Built(|| format!(
                r"(?i)\b(?:setenv|setx|set\s+-\w+|env[: ](?:set|add))\s+\w*(?:token|secret|passw(?:or)?d|passphrase|pwd|api_?key|_key|_pass)\w*\s+({VALUE})"
            )),
            of_a_setting,
        ),
        secret(
            Any(&["sqlplus", "sqlldr", "expdp", "impdp", "sqlcl", "rman", "conn"]),
            r#"(?i)(?:\b(?:sqlplus|sqlldr|expdp|impdp|sqlcl|rman)\b[^;|&\n]*?\s(?:userid=|target\s+)?|(?:^|\n|['"])\s*conn(?:ect)?\s+)['"]?[\w$#]+/("[^"]*"|[^\s@'";|&]+)(?:@|\s|$|['";])"#,
            always,
        ),
    ]
}

/// `name:password` within quotes, after a line break, or as a word.
const ACCOUNT: &str = r#"(?:["'][^"':\s\\]+:((?:\\[^n]|[^"'\\\n])+)|(?:\\n|\n)[^"':\s\\]+:((?:\\[^n]|[^"'\\\n])+)|(?:\s|<<<)[^"':\s\\]+:((?:"[^"]*"|'[^']*'|\\[^n]|[^\s;|&<>)"'`\\])+))"#;

/// Standard input of a program, written in the command.
fn inputs() -> Vec<MaskRule> {
    vec![
        secret(
            AnyWith(READS, |c| c == '|'),
            Built(|| format!(
                r"\b(?:echo|printf|yes)\s+(?:-\w+\s+|'%s\S*'\s+|\x22%s\S*\x22\s+|%s\S*\s+)*({VALUE}(?:[ \t]+{VALUE})*)\s*\|\s*[^|;&\n]*?{READERS}"
            )),
            |captures, text| !is_delimited_by_other_rules(captures) && literal(captures, text),
        ),
        // Accounts: the name before the first colon is kept.
        secret(
            Any(&["chpasswd", "newusers"]),
            ACCOUNT,
            literal,
        )
        .within(Built(|| format!(
            r"\b(?:echo|printf|yes)\s+{VALUE}(?:[ \t]+{VALUE})*\s*\|\s*[^|;&\n]*?\b(?:chpasswd|newusers)\b"
        ))),
        secret(
            Any(&["chpasswd", "newusers"]),
            ACCOUNT,
            literal,
        )
        .within(Built(|| format!(r"\b(?:chpasswd|newusers)\b[^|;&\n]*?<<<\s*{VALUE}"))),
        // Several values in a group.
        secret(
            AnyWith(READS, |c| c == '|'),
            Built(|| format!(
                r"\b(?:echo|printf)\s+(?:-\w+\s+|'%s\S*'\s+|\x22%s\S*\x22\s+|%s\S*\s+)*({VALUE})(?:\s*;\s*(?:echo|printf|sleep|cat)\b[^;|&\n()]*)*\s*;?\s*[)}}]\s*\|\s*[^|;&\n]*?{READERS}"
            )),
            literal,
        ),
        secret(
            AnyWith(READS, |c| c == '<'),
            Built(|| format!(r"{READERS}[^|;&\n]*?<<<\s*({VALUE})")),
            |captures, text| !is_delimited_by_other_rules(captures) && literal(captures, text),
        ),
        // A format string that labels its arguments as secrets.
        secret(
            Any(&["printf"]),
            Built(|| format!(
                r#"(?i)\bprintf\s+(?:"[^"\n]*(?:passw(?:or)?d|secret|token)[^"\n]*%s[^"\n]*"|'[^'\n]*(?:passw(?:or)?d|secret|token)[^'\n]*%s[^'\n]*')((?:[ \t]+{VALUE})+)"#
            )),
            |captures, text| literal(captures, text.trim()),
        ),
    ]
}

/// Returns `true` if other rules separate the secret from its context: names before passwords, and
/// parameters of the URL of a seed.
fn is_delimited_by_other_rules(captures: &Captures<'_>) -> bool {
    let whole = captures.get(0).map_or("", |group| group.as_str());
    let reads_accounts = whole.contains("chpasswd") || whole.contains("newusers");
    reads_accounts && whole.contains(':')
        || whole.contains("otpauth://") && whole.contains("secret=")
}

/// Files and protocols with passwords.
fn networks() -> Vec<MaskRule> {
    const GAP: &str = r"(?:\s|\\n|\\t|\\r)+";
    // The password after a user, which is not an option, a redirection or a comment.
    const SECOND: &str =
        r#"(?:\\"[^"\\]*\\"|"[^"\n]*"|'[^'\n]*'|[^\s;|&"'\\<>#(){}-][^\s;|&"'\\<>(){}]*)"#;
    const REDIS: &str = r#"(?:\\"[^"\\]*\\"|"[^"\n]*"|'[^'\n]*'|[^\s;|&"'\\]+)"#;
    vec![
        // `.netrc`
        secret(
            Any(&["machine", "default"]),
            Built(|| format!(
                r#"\b(?:machine{GAP}\S+?|default)(?:{GAP}(?:login|user|account){GAP}[^\s\\]+)*{GAP}passw(?:or)?d{GAP}("[^"]*"|[^\s"'\\]+)"#
            )),
            literal,
        ),
        // `.pgpass`
        secret(
            Any(&["pgpass"]),
            r#"[\w.*-]+:(?:[0-9]+|\*):[^:\s"']+:[^:\s"']+:((?:[^\s"'\\]|\\[^n])+)"#,
            literal,
        )
        .within(r"(?is)\A.*pgpass.*\z"),
        // Input of FTP clients.
        secret(
            Any(&["ftp"]),
            Built(|| format!(r"(?m)^\s*(?:quote\s+)?(?:user\s+\S+[ \t]+|pass[ \t]+)({VALUE})")),
            literal,
        )
        .within(r"(?is)\A.*ftp.*\z"),
        // Input of Redis clients.
        secret(
            Any(&["redis", "valkey", "keydb", "6379"]),
            Built(|| format!(
                r#"(?i)(?:\b(?:redis|valkey|keydb)-cli(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+|\b(?:echo|printf)\s+(?:-\w+\s+)*|^\s*|\bhello\s+[0-9]\s+|["'\n])auth[ \t]+(?:{REDIS}[ \t]+({SECOND})(?:[\s;|&"'\\)]|\z)|({REDIS}))"#
            )),
            literal,
        )
        .within(r"(?is)\A.*(?:redis|valkey|keydb|6379).*\z"),
        secret(
            Any(&["requirepass", "masterauth"]),
            Built(|| format!(r"(?i)\b(?:requirepass|masterauth)\s+({REDIS})")),
            |captures, text| !text.starts_with(".*") && literal(captures, text),
        ),
        secret(
            Any(&["migrate"]),
            Built(|| format!(r"(?i)\sauth(?:2\s+{REDIS})?\s+({REDIS})")),
            literal,
        )
        .within(r"(?i)\bmigrate\s[^;|&\n]*"),
        secret(
            Any(&["setuser"]),
            r#"[\s"'\\][<>]([^\s"'<>;|&\\]+)"#,
            literal,
        )
        .within(r"(?i)\bacl\s+setuser\s[^;|\n]*"),
    ]
}

/// Input that scripts type at password prompts.
fn typed() -> Vec<MaskRule> {
    vec![
        secret(
            Any(&["send"]),
            Built(|| {
                format!(
                    r"(?is)(?:assw(?:or)?d|assphrase|\bpin\b|\botp\b|verification code|one-time).{{0,120}}?\bsend(?:_user)?\s+(?:--?\w*\s+)*({QUOTED}|\{{[^}}]*\}}|[^\s;\x22'{{}}]+)"
                )
            }),
            no_variable,
        ),
        secret(
            Any(&["send"]),
            Built(|| {
                format!(
                    r"(?is)(?:assw(?:or)?d|assphrase|\bpin\b|\botp\b).{{0,120}}?\.(?:send|sendline|write)\(\s*b?({QUOTED})"
                )
            }),
            no_variable,
        ),
        secret(
            Any(&["pexpect"]),
            Built(|| format!(r"\bpexpect\.sendline\(\s*b?({QUOTED})")),
            no_variable,
        ),
        // Calls with a name and a password.
        secret(
            Any(&["auth", "changeuserpassword", ".login", "credential"]),
            Built(|| {
                format!(
                    r"(?i)(?:\.auth|changeUserPassword|\.login|(?:basic|digest)auth|\bauth\s*=\s*|NetworkCredential)\(\s*{QUOTED}\s*,\s*b?({QUOTED})"
                )
            }),
            literal,
        ),
        secret(
            Any(&["pdo(", "connect", "mysqli("]),
            Built(|| {
                format!(
                    r"(?i)(?:\bPDO|\bmysqli|connect(?:ion)?)\(\s*{QUOTED}\s*,\s*{QUOTED}\s*,\s*({QUOTED})"
                )
            }),
            literal,
        ),
        secret(
            Any(&["create_"]),
            Built(|| {
                format!(r"(?i)\bcreate_(?:super)?user\(\s*{QUOTED}\s*,\s*{QUOTED}\s*,\s*({QUOTED})")
            }),
            literal,
        ),
        secret(
            Any(&["bcrypt", "hash", "make_password", "hashpw"]),
            Built(|| {
                format!(
                    r"(?i)\b(?:bcrypt(?:\.\w+)?|Hash::make|(?:generate_)?password_hash|make_password|hashpw)\(\s*b?({QUOTED})"
                )
            }),
            literal,
        ),
        secret(
            Any(&["setenvironmentvariable", "putenv", "setdefault"]),
            Built(|| {
                format!(
                    r#"(?i)\b(?:SetEnvironmentVariable|putenv|setdefault)\(\s*\\?["'][^"']*(?:token|secret|passw(?:or)?d|api_?key|_key)[^"']*["']\s*,\s*({QUOTED})"#
                )
            }),
            literal,
        ),
        secret(
            Any(&["securestring"]),
            Built(|| format!(r"(?i)\bConvertTo-SecureString\s+(?:-String\s+)?({VALUE})")),
            literal_no_option,
        ),
    ]
}

/// Seeds of one-time passwords.
fn seeds() -> Vec<MaskRule> {
    vec![
        secret(
            Any(&["otp", "2fa", "mfa", "oath", "authenticator"]),
            r"\b((?:[A-Z2-7]{16,}|[a-z2-7]{16,}|[A-Za-z2-7]{4}(?:[ -][A-Za-z2-7]{4}){3,})={0,6})",
            |_, text| {
                let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
                let (mut digits, mut length) = (0, 0);
                for byte in letters {
                    digits += usize::from(byte.is_ascii_digit());
                    length += 1;
                }
                let is_upper = !text.bytes().any(|byte| byte.is_ascii_lowercase());
                digits > 0 || is_upper && matches!(length, 16 | 26 | 32 | 52 | 56 | 64)
            },
        )
        .within(r"(?is)\A.*(?:otp|2fa|mfa|oath|authenticator).*\z"),
        secret(
            Any(&["oathtool"]),
            Built(|| {
                format!(
                    r"\boathtool\b(?:\s+(?:-[dswcNS]|--(?:digits|window|counter|now|start-time|time-step-size))[ =]\S+|\s+-\S+)*\s+({VALUE})"
                )
            }),
            literal_no_option,
        ),
        secret(
            Any(&["otp("]),
            Built(|| format!(r"(?i)\b[TH]OTP\(\s*({QUOTED})")),
            literal,
        ),
        secret(
            Any(&["oath"]),
            Built(|| format!(r"\boath\s+(?:accounts\s+)?add\s+(?:-\S+\s+)*{VALUE}\s+({VALUE})")),
            literal_no_option,
        ),
    ]
}

/// Returns `false` for a variable, also if a line break follows it.
fn no_variable(_: &Captures<'_>, text: &str) -> bool {
    let text = text.trim_matches(['"', '\'', '\\', '{', '}']);
    let text = text.trim_end_matches("\\r").trim_end_matches("\\n");
    let text = text.trim_end_matches(['\\', 'r', 'n']);
    !text.is_empty() && !text.trim_start_matches('\\').starts_with('$')
}
