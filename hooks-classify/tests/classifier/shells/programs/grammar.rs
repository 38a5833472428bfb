//! Grammar of the generated programs: templates with gaps.
//!
//! Gaps: `@n` is a variable, `@m` the same once more, `@v` a value for it, `@a` a plain text for it,
//! `@w` a word, `@b` a body, `@L` the body of a loop, `@F` that of a function, `@q` and `@d` a body
//! between single or double quotes, `@c` a condition, `@r` a command that reads, `@x` one that prints,
//! `@e` arithmetic, `@R` a redirection, `@g` a function.

/// Where a kind of statement may be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Anywhere,
    InFunction,
    /// Not in functions: none may call itself.
    OutsideFunctions,
    InLoop,
}

pub(super) struct Kind {
    pub(super) name: &'static str,
    /// How often it is chosen.
    pub(super) weight: usize,
    pub(super) place: Place,
    pub(super) templates: &'static [&'static str],
}

const fn kind(name: &'static str, weight: usize, templates: &'static [&'static str]) -> Kind {
    Kind {
        name,
        weight,
        place: Place::Anywhere,
        templates,
    }
}

const fn placed(
    name: &'static str,
    weight: usize,
    place: Place,
    templates: &'static [&'static str],
) -> Kind {
    Kind {
        name,
        weight,
        place,
        templates,
    }
}

/// What a variable is used for: texts that only read there, texts that make a file, and others.
pub(super) struct Role {
    pub(super) names: &'static [&'static str],
    pub(super) harmless: &'static [&'static str],
    pub(super) makes: &'static [&'static str],
    pub(super) other: &'static [&'static str],
}

/// Programs, options of `sort`, and targets of redirections.
pub(super) const ROLES: &[Role] = &[
    Role {
        names: &["a", "b", "c"],
        harmless: &["echo", "ls", "true", ":", "cat"],
        makes: &["touch", "touch", "'touch M'", "'touch N'"],
        other: &[
            "''", "xtouch", "touchx", "tou", "ch", "uch", "echo:touch", "'echo touch'", "x", "1",
            "a", "b", "'a b'", "lsxtouch", "'*'", "'$b'", "'$(touch M)'", "'x[$(touch M)]'", "-",
        ],
    },
    Role {
        names: &["o"],
        harmless: &["-r", "-n", "f", "''"],
        makes: &["-oM"],
        other: &["x", "'-r -oM'", "-", "-r:-oM", "oM"],
    },
    Role {
        names: &["r"],
        harmless: &["/dev/null", "/dev/null", "/dev/stdout"],
        makes: &["M"],
        other: &["''", "/dev/nullM", "missing/d", "1", "'&1'"],
    },
];

/// What makes a file if a variable is not what it seems.
const RUNS: &[&str] = &[
    "$a M", "$a M", "$a M", "\"$a\" M", "${a} M", "$b M", "$c M", "$a M 2>/dev/null",
    "$a M >/dev/null", "command $a M", "eval \"$a M\"", "eval '$a M'", "eval $a M", "( $a M )",
    "$a M | cat", "echo x | $a M", "$1 M", "\"$1\" M", "$1 $2", "\"$@\"", "\"$@\" M", "$* M",
    "sort $o f", "sort \"$o\" f", "sort f $o", "echo x > $r", "echo x > \"$r\"", "echo x >> $r",
    "echo x 2> $r", "${a-echo} M", "${a:-echo} M", "${a+echo} M", "${a:+echo} M", "${a=echo} M",
    "${a:=echo} M", "${a-@a} M", "${a:-@a} M", "${1-echo} M", "${1:-@a} M", "${a%x} M",
    "${a#x} M", "${a%%:*} M", "${a#*:} M", "${a/x/} M", "\"${a#'x'}\" M", "\"${a-'echo'}\" M",
    "x=$($a M)", ": $($a M)", ": \"`$a M`\"", "[ -n \"$($a M)\" ]", "$a$b M", "$b$c M", "$a $b",
    "$c$a M", "env $a M", "sh -c '$0 M' $a", "sh -c \"$a M\"", "exec $a M", "! $a M",
    "if $a M; then@b fi", "while $a M; do@b break; done", "$a M && @r", "$a M || @r",
    "$(@x) M", "$(echo $a) M", "$a M <<E\nx\nE", "$a M < f", "$a M & wait", "timeout 2 $a M",
    "for x in $a; do $x M; done", "for x in $a $b; do $x M; done",
    "case $a in @a) $a M;; esac", "case $a in echo|ls) ;; *) $b M;; esac", "cat <<E\n$($a M)\nE",
    "echo $(($a))", "echo $((a))", "[ \"$a\" -eq 1 ]", "test $c -gt 0", "echo ${f[$a]}",
    "[[ $a -eq 1 ]]", "echo ${a+\"$($b M)\"}", "{ $a M; }", "$a M; $b M", "a$@a M",
    "touch$a M", "ec$c M", "$c$c M", "${c}ouch M", "echo$c M", "e$c$a M",
];

pub(super) const KINDS: &[Kind] = &[
    kind("run", 30, RUNS),
    kind("assignment", 14, &["@n=@v", "@n=@v", "@n=@v", "@n=", "@n=@a", "@n=\"@w\""]),
    kind("assignments", 6, &[
        "@n=@v @n=@v", "@n=@a @n=$@m", "@n=@a @n=$a", "a=@v b=$a", "b=@v a=$b c=$a", "a=@a a=$a@a",
        "@n=@v @n=@v @n=@v", "a=$b b=$a",
    ]),
    kind("prefix assignment", 5, &[
        "@n=@v @r", "@n=@v :", "@n=@v true", "@n=@v eval :", "@n=@v eval '@q'", "@n=@v command :",
        "@n=@v export c", "@n=@v $a M", "@n=@v eval '$a M'", "@n=@v sh -c '$a M'", "@n=@v . ./f",
        "@n=@v exec 3>&1", "@n=@v set -- $a", "@n=@v @n=@v :", "@n=@v readonly q",
        "@n=@v unset q", "@n=@v shift", "@n=@v read @n < f", "@n=@v test x",
    ]),
    kind("append", 2, &["@n+=@a", "@n+=x", "@n+=", "@n=$@m@a", "@n=@a$@m"]),
    kind("export", 3, &[
        "export @n=@v", "export @n=@v @n=@v", "export @n=@a @n=$@m", "export @n", "export a=@a b=$a",
        "export @n; @n=@v", "command export @n=@v",
    ]),
    kind("readonly", 2, &[
        "readonly @n=@v", "readonly @n", "readonly a=@a b=$a", "readonly @n=@a; @m=@v", 
        "readonly @n; @m=@v; $a M", "readonly @n; export @m=@v",
    ]),
    kind("declare", 3, &[
        "declare @n=@v", "typeset @n=@v", "declare @n", "typeset @n", "typeset a=@a b=$a",
        "declare -x @n=@v", "typeset -r @n=@v", "typeset -u @n=@v", "typeset -l @n=@v",
        "typeset -i @n=@v", "declare -n @n=b", "typeset -g @n=@v", "typeset -L2 @n=@v",
    ]),
    kind("read", 4, &[
        "read @n < f", "read -r @n < f", "read @n x <<E\n@w x\nE", "read x @n <<'E'\nx @w\nE",
        "IFS=: read @n x <<E\n@w\nE", "echo @a | read @n", "echo @a | { read @n; @r; }",
        "read @n </dev/null", "read @n < missing", "while read @n; do@b done < f",
        "while read x; do@L done < f", "read @n <<< @w", "echo @a | while read @n; do@b done",
    ]),
    kind("printf -v", 1, &["printf -v @n @a", "printf -v @n %s @w", "printf -v @n"]),
    kind("mapfile", 1, &["mapfile -t @n < f", "readarray @n <<< @a", "mapfile @n </dev/null"]),
    kind("getopts", 2, &[
        "getopts ab: @n", "getopts ab: @n -a", "while getopts ab: x; do@b done",
        "getopts a: x -a @a; $OPTARG M", "getopts a: x; @n=$OPTARG",
    ]),
    kind("unset", 4, &["unset @n", "unset @n", "unset -v @n", "unset @n @n", "unset -f @g", "unset @g"]),
    kind("set", 4, &[
        "set -- @w", "set -- @w @w", "set -- $a", "set -- \"$a\" @w", "set --", "set -- ''", "set @w",
        "set -- @w \"$@\"", "set -- $a $b $c",
    ]),
    kind("shift", 2, &["shift", "shift 2", "shift 0", "shift $#"]),
    kind("set -e", 2, &["set -e", "set -eu", "set -u", "set +e", "set -f", "set -a", "set -n", "set -o errexit"]),
    kind("function", 4, &[
        "@g() {@F }", "@g() {@F }", "@g() {@F }", "@g() (@F )", "function @g {@F }",
        "@g() {@F } >/dev/null", "@g() {@F } < missing", "@g() if @c; then@F fi",
    ]),
    placed("call", 7, Place::OutsideFunctions, &[
        "@g", "@g", "@g @a", "@g @w", "@g @w @w", "@g ''", "@n=@v @g", "@n=@v @g @w", "@g \"$@\"",
        "@g | cat", "( @g )", "@n=$(@g)", "@n=$(@g @w)", "@g && @r", "@g || @r", "@g & wait", "eval @g",
        "@g < missing", "if @g; then@b fi", "! @g", "$(@g) M", "@g $a", "@g \"$a\" @w",
    ]),
    placed("return", 5, Place::InFunction, &[
        "return", "return 1", "return 0", "@c && return", "@c || return 1", "eval return", 
        "( return )", "return $?", "if @c; then@b return; fi", "return | cat", "command return",
    ]),
    placed("local", 8, Place::InFunction, &[
        "local @n=@v", "local @n", "local @n=@v @n=@v", "local a=@a b=$a", "local @n; @m=@v",
        "local @n=$1", "local @n=${1-@a}", "local @n=${1:-@a}", "typeset @n=@v", "local -r @n=@v",
    ]),
    placed("parameter", 10, Place::InFunction, &[
        "@n=$1", "@n=${1-@a}", "@n=${1:-@a}", "@n=${1+@a}", "$1 M", "${1-echo} M", "\"$@\" M", 
        "$1 $2", "@n=$2", "shift; @n=$1", "@n=$#", "set -- @w", "sort ${1:--r} f", "echo x > ${1:-/dev/null}",
        "${1:-@a} M", "@n=\"$*\"", "for x; do $x M; done", "for x in \"$@\"; do@L done",
    ]),
    kind("if", 5, &[
        "if @c; then@b fi", "if @c; then@b else@b fi", "if @c; then@b elif @c; then@b else@b fi",
        "if @n=@v; then@b fi", "if ! @c; then@b fi",
    ]),
    kind("while", 2, &[
        "while @c; do@b break; done", "while i=x$i; [ \"$i\" != xxx ]; do@L done",
        "while i=x$i; [ \"$i\" != xxx ] && @c; do@L done", "while @c; do@b break; done < f",
        "while false; do@b done", "while @c; do@b break; done < missing",
    ]),
    kind("until", 2, &[
        "until @c; do@b break; done", "until i=x$i; [ \"$i\" = xxx ]; do@L done", "until true; do@b done",
    ]),
    kind("for", 4, &[
        "for @n in @a @w; do@L done", "for @n in @w; do@L done", "for x in 1 2; do@L done", "for x in; do@L done",
        "for @n; do@L done", "for @n in $a $b; do@L done", "for x in 1 2 3; do@L done | cat", "for x in $b; do@L done",
        "for x in 1 2; do@L done < missing", "for @n in @a; do@L done > $r",
    ]),
    kind("case", 4, &[
        "case $@n in @a)@b ;; *)@b ;; esac", "case $@n in @a)@b ;; esac", "case @w in t*)@b ;; ''|e*)@b ;; esac",
        "case x in x)@b ;; *)@b ;; esac", "case x in x)@b ;& *)@b ;; esac", "case $1 in \"$a\")@b ;; [a-l]*)@b ;; esac",
        "case @w in $a)@b ;; *)@b ;; esac",
    ]),
    placed("break", 6, Place::InLoop, &[
        "break", "@c && break", "@c || break", "if @c; then@b break; fi", "break 2", "eval break", "( break )",
    ]),
    placed("continue", 6, Place::InLoop, &[
        "continue", "@c && continue", "@c || continue", "eval continue", "continue 2", "( continue )",
    ]),
    kind("and, or", 5, &[
        "@c && @n=@v", "@c || @n=@v", "@c && @n=@v || @n=@v", "@c && {@b }", "@c || {@b }", "@n=@v && @n=@v",
        "@n=$(false) || @n=@v", "@c && @c || @n=@v", "@c || @c && {@b }", "! @c && @n=@v", "@n=$(@x) && @n=@v",
    ]),
    kind("not", 2, &["! @c", "! {@b }", "! @n=@v", "! (@b )"]),
    kind("subshell", 3, &["(@b )", "(@b ) 2>/dev/null", "( @n=@v )", "(@b ) < f", "(@b ) || @n=@v"]),
    kind("group", 3, &["{@b }", "{@b } 2>/dev/null", "{@b } > $r", "{@b } < f"]),
    kind("pipeline", 3, &[
        "{@b } | cat", "echo x | {@b }", "@n=@v | cat", "echo x | @n=@v", "@r | {@b }", ": | @n=@v | :", "@r | cat | {@b }",
    ]),
    kind("background", 2, &["{@b } & wait", "@n=@v & wait", "(@b ) & wait", "@r & wait; @n=@v", "@r & @n=$!; wait"]),
    kind("trap", 4, &[
        "trap '@q' EXIT", "trap '@q' 0", "trap '@q' ERR", "trap '@q' DEBUG", "trap \"@d\" EXIT", "trap '@q' USR1; kill -USR1 $$",
        "trap '@q' EXIT; trap - EXIT", "trap - EXIT", "trap '' EXIT", "( trap '@q' EXIT )", "trap '$a M' EXIT",
        "trap \"$a M\" EXIT", "trap '@q' RETURN", "trap '@q' TERM; kill $$", "trap @g EXIT", "trap 'a=$b' USR1; kill -USR1 $$",
    ]),
    kind("command substitution", 4, &[
        "@n=$(@x)", "@n=`@x`", "@n=$(@b )", "@n=\"$(@x)\"", ": $(@b )", "@n=$(@n=@v; echo $@m)", "@n=$(<f)", "@n=$(cat f)",
        "@n=$(@x || @x)", "@n=$(exit 1) || @n=@v",
    ]),
    kind("default", 6, &[
        ": ${@n=@a}", ": ${@n:=@a}", ": \"${@n:=@a}\"", "@n=${@n-@a}", "@n=${@n:-@a}", "@n=${@n+@a}", "@n=${@n:+@a}",
        "@n=\"${@n-'@a'}\"", "@n=\"${@n:-\"@a\"}\"", "@n=${@n?}", "@n=${@n:?x}", "@n=${@n:-${@n:-@a}}", "@n=\"${@n+'$b'}\"",
        "@n=${@n-\"$b\"}", "@n=${@n:-$1}", "@n=${@n-$(@x)}", "@n=${@n=@a}$@m", ": ${@n=$@n}",
    ]),
    kind("trim", 4, &[
        "@n=${@n#x}", "@n=${@n%x}", "@n=${@n##*:}", "@n=${@n%%:*}", "@n=${@n/x/}", "@n=${@n/@a/@a}", "@n=${@n//x/@a}",
        "@n=\"${@n#'x'}\"", "@n=\"${@n%\"x\"}\"", "@n=${@n#\"$@n\"}", "@n=${@n#$@n}", "@n=${@n:1}", "@n=${@n:0:4}",
        "@n=${@n%?}", "@n=${@n#?}", "@n=${#@n}", "@n=${!@n}", "@n=${@n^}", "@n=${@n,,}", "@n=${@n%'x'}", "@n=\"${@n#x*}\"",
    ]),
    kind("arithmetic", 4, &[
        "@n=$((@e))", ": $((@e))", "(( @e ))", "let x=@e", "echo $((@e))", "i=$((i+1))", "x=$(( x[@e] ))", ": $(( @n = @e ))",
        "typeset -i x=@e", "[ $((@e)) -gt 0 ]", "[[ @e -gt 0 ]]", "echo ${f[@e]}", "f[@e]=1", "test @e -eq 0", "x=$(( i ? @e : @e ))",
        "echo $[@e]", "shift $((@e))", "echo ${a:@e}", "@n=$(( @e )) @n=@v",
    ]),
    kind("redirection", 3, &[
        "@r > $r", "@r @R", "{@b } @R", "(@b ) @R", "@n=@v @R", "@n=@v 2>$r", "exec 3>&1", "exec @R", ": @R", "@r > \"$r\" 2>&1", "> $r",
        "eval '@q' @R", "if @c; then@b fi @R",
    ]),
    kind("failing redirection", 4, &[
        "@n=@v < missing", "{@b } < missing", "(@b ) < missing", ": < missing", "{ @n=@v; } > missing/d/f", "exec 3< missing",
        "eval '@q' < missing", "@n=@v > missing/f", "{@b } < missing || @n=@v", "export @n=@v < missing", "set -- @w < missing",
        "unset @n < missing", "if @c; then@b fi < missing", "command : < missing", "@n=@v : < missing", "case x in x)@b ;; esac < missing",
        "{@b } < $c", "@n=@v 3<&9", "shift < missing", "read @n <&9",
    ]),
    kind("here-document", 3, &[
        "cat <<E\n@w\nE", "cat <<'E'\n$(touch M)\nE", "@n=$(cat <<E\n@w\nE\n)", "cat <<E\n${@n-@a}\nE", "cat <<E\n${@n='@a'}\nE",
        "cat <<\\E\n`touch M`\nE", "cat <<-E\n\t$@n\n\tE", "cat <<E\n${@n:-'$(@x)'}\nE", "cat <<E\n$((@e))\nE", "{@b } <<E\n@w\nE",
        "sh <<E\n$a M\nE", "sh <<'E'\n$a M\nE", "cat <<E | {@b }\n$@n\nE", "cat <<\"E\"\n${@n:=@a}\nE", "cat <<E\n\"${@n-'x}\"\nE",
    ]),
    kind("eval", 4, &[
        "eval @n=@v", "eval '@q'", "eval \"@d\"", "eval \"@n=@v\"", "eval '@n=@v'", "eval $a M", "eval eval '@n=@a'", "eval \"$@n\"", "eval",
        "eval $c",
    ]),
    kind("exec", 1, &["exec", "exec @r", "( exec $a M )", "exec $a M", "@n=@v exec", "exec @r < missing"]),
    kind("command", 2, &[
        "command @r", "command eval '@q'", "command set -- @w", "command $a M", "command -p $a M", "command -v $a", "command read @n < f",
        "command unset @n", "command exec $a M", "builtin eval '@q'", "command shift",
    ]),
    kind("IFS", 3, &[
        "IFS=x", "IFS=:", "IFS=", "unset IFS", "IFS=$c", "IFS=x; $a M", "IFS=: ; set -- $c", "IFS=x eval '@q'", "IFS=o; @n=\"$*\"",
        "IFS=x @r", "IFS=h; @n=$@n", "local IFS=x",
    ]),
    kind("reading", 5, &["@r"]),
    kind("exit", 1, &["exit", "@c && exit", "( exit 1 )", "@c || exit 0", "exit $c"]),
    kind("alias", 1, &["alias @n=@a", "alias x=@a", "alias x='$a M'; eval x", "unalias -a"]),
    kind("option", 1, &["set -o posix", "set -k", "shopt -s expand_aliases", "setopt shwordsplit", "emulate sh", "set -o noglob", "set -h"]),
    kind("test", 2, &["@c"]),
];

/// Commands that only read.
pub(super) const READS: &[&str] = &[
    "echo $@n", "ls", ":", "true", "cat f", "test -n \"$@n\"", "echo \"$@n\"", "echo @w", "false", "ls f", "printf '%s\\n' \"$@n\"",
    "[ -f f ]", "echo x", "sort f", ": $@n", "cat missing", "echo ${@n-@a}",
];

/// Commands that print a value.
pub(super) const PRINTS: &[&str] = &[
    "echo $@n", "echo @a", "echo \"$@n\"", "printf %s @a", "echo $1", "echo @a | cat", "cat f", "true", "echo", "printf '%s\\n' $@n",
    "false", "echo @a; false", "echo ${@n-@a}", "cat <<E\n@a\nE\n",
];

pub(super) const CONDITIONS: &[&str] = &[
    "true", "false", "[ -n \"$@n\" ]", "[ -z \"$@n\" ]", "[ \"$@n\" = @a ]", "test \"$@n\"", "[ $# -gt 0 ]", "[ -f f ]", "[ -e missing ]",
    "[[ -n $@n ]]", "[[ $@n == @a ]]", "(( 1 ))", "(( @e ))", "! true", "@n=@v", "@n=$(@x)", "@r", "case $@n in e*) true;; *) false;; esac",
    "{ @n=@v; }", "( @n=@v )", "command -v $@n", "grep -q x f", "test @w", "[ \"$?\" -eq 0 ]", "[ -v @n ]", "eval '@q'",
];

pub(super) const ARITHMETIC: &[&str] = &[
    "1", "0", "i", "i+1", "@n", "$@n", "${@n}", "${#@n}", "$#", "$?", "@n=1", "f[1]", "f[@n]", "f[$@n]", "$@n+1", "i++", "1 && @n", "$(wc -l < f)",
    "${@n-0}", "$1", "${@n:-1}", "f[$(@x)]", "1/0", "!@n", "$(@x)", "$OPTIND", "$RANDOM", "'@a'", "\"$@n\"",
];

pub(super) const REDIRECTIONS: &[&str] = &[
    "> /dev/null", "2>&1", "< f", ">&2", "2>/dev/null", "3>&1", "> $r", "< /dev/null", ">&-", "3< f", "<&-", "< \"$c\"", "> /dev/null 2>&1", "<<E\nx\nE",
    ">> $r", "&>/dev/null", ">| $r", "<> f", ">& $r", "2>$r",
];

/// Words; the lists of values begin with them.
pub(super) const WORDS: &[&str] = &[
    "$@n", "\"$@n\"", "${@n}", "@a", "@a", "@a", "@a", "\"@a\"", "${@n-@a}", "${@n:-@a}", "${@n+@a}", "${@n:+@a}", "${@n=@a}", "${@n:=@a}",
    "\"${@n-@a}\"", "\"${@n-'@a'}\"", "\"${@n:-\"@a\"}\"", "${@n#x}", "${@n%x}", "${@n##*:}", "${@n%%:*}", "${@n/x/}", "\"${@n#'x'}\"", "$1", "\"$1\"",
    "${1-@a}", "${1:-@a}", "${1+@a}", "\"$*\"", "\"$@\"", "$*", "$2", "$(@x)", "`@x`", "\"$(@x)\"", "$((@e))", "@a$@n", "$@n@a", "${@n}${@n}",
    "\"$@n$@n\"", "'$@n'", "\\$@n", "$#", "$?", "${#@n}", "${!@n}", "$@n:$@n", "$_", "$0", "$-", "~", "*", "[t]ouch", "{@a,@a}", "$'touch'", "${@n[0]}",
    "$OPTARG", "$i", "$x", "$REPLY", "${@n+'$b'}", "${@n-\"$b\"}", "${@n-$b}",
];

pub(super) const FUNCTIONS: &[&str] = &["g", "h"];
