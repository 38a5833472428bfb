//! Commands that read further commands from a terminal.

use hooks_classify::{Classifier, TerminalInput};

fn mismatches(expected: TerminalInput, commands: &str) -> Vec<String> {
    let classifier = Classifier::new();
    let found = |command: &str| {
        let classification = classifier.classify(command).expect("a command");
        classification.terminal_input
    };
    commands
        .lines()
        .map(str::trim)
        .filter(|command| !command.is_empty())
        .map(|command| (command, found(command)))
        .filter(|(_, found)| *found != expected)
        .map(|(command, found)| format!("`{command}` is {found:?}"))
        .collect()
}

fn assert_terminal_input(expected: TerminalInput, commands: &str) {
    assert_eq!(mismatches(expected, commands), Vec::<String>::new());
}

#[test]
fn programs_that_read_commands_are_recognized() {
    assert_terminal_input(
        TerminalInput::Commands,
        r#"
        less notes.txt
        git diff | less
        git log | less -R
        cat notes.txt | more
        zless x.gz
        most x
        cd src && less main.rs
        if true; then less x; fi
        sudo less /var/log/syslog
        env LC_ALL=C less x
        find . -name x -exec less {} \;
        bash -c 'less x'
        info coreutils
        top
        top -d 5
        htop
        iftop
        vim -R x
        view x
        echo x | vim -
        nano -v x
        ed notes.txt
        emacs -nw x
        python
        python3 -i x.py
        python3 -ic 'print(1)'
        node
        irb
        ghci
        php -a
        gdb ./a.out
        lldb ./a.out
        dc
        psql
        psql shop
        mysql shop
        sqlite3 shop.db
        sqlite3 -readonly shop.db
        sqlite3 -interactive shop.db 'SELECT 1'
        duckdb
        redis-cli
        redis-cli -h db
        mongosh
        mongosh --eval 'db.version()' --shell
        bash
        sh -i
        sudo -i
        su -
        ssh host
        sftp host
        ftp host
        telnet host
        nslookup
        fzf
        ls | fzf
        x=$(fzf)
        tmux
        screen -r
        man ls
        tig
        lazygit
        ranger
        mc
        ls; less x
        less x &
        echo "$(vim x)"
        { less x; } 2> errors.txt
        "#,
    );
}

#[test]
fn programs_that_start_a_pager_are_recognized() {
    assert_terminal_input(
        TerminalInput::Pager,
        r"
        git log
        git -C x log --oneline
        git diff
        git show HEAD
        git branch
        git stash list
        git log 2>/dev/null
        ls | wc -l; git log
        git -p status
        git status --help
        systemctl status ssh
        journalctl -u ssh
        psql -c 'SELECT 1'
        psql -l
        aws s3api list-buckets
        gh pr list
        bat x
        perldoc strict
        ",
    );
}

#[test]
fn other_commands_take_no_terminal_input() {
    assert_terminal_input(
        TerminalInput::None,
        r#"
        ls
        git status
        git --no-pager log
        git -P diff
        git log | cat
        git log | head -5
        git log > log.txt
        git diff | grep x
        x=$(git log -1)
        echo "$(git log -1)"
        less x | cat
        cat x | less | head
        less x > copy.txt
        less --version
        man -k printf
        man ls | col -b
        top -b -n 1
        top -bn1 | head
        python3 -c 'print(1)'
        python3 x.py
        python3 --version
        echo 'print(1)' | python3
        node -e 'console.log(1)'
        node x.js
        psql -c 'SELECT 1' | cat
        psql --version
        mysql -e 'SELECT 1'
        sqlite3 shop.db 'SELECT 1'
        sqlite3 shop.db < schema.sql
        redis-cli GET x
        redis-cli --bigkeys
        mongosh --eval 'db.version()'
        duckdb -c 'SELECT 1'
        bash -c 'ls'
        bash -lc 'ls'
        bash x.sh
        sudo ls
        su -c ls
        ssh host ls
        nslookup example.com
        fzf --filter x
        systemctl --no-pager status
        systemctl status ssh --no-pager
        journalctl --no-pager
        journalctl -f
        tmux ls
        crontab -l
        echo 1+1 | bc
        "#,
    );
}

/// The decision does not depend on terminal input: such a command may only read.
#[test]
fn the_decision_does_not_depend_on_terminal_input() {
    let classifier = Classifier::new();
    let paged = classifier.classify("less notes.txt").expect("a command");
    assert!(paged.takes_terminal_input());
    assert_eq!(paged.decision.to_string(), "AUTO_ALLOWED");
    let json = serde_json::to_value(&paged).expect("JSON");
    assert_eq!(json["terminal_input"], "commands");
    let plain = classifier.classify("cat notes.txt").expect("a command");
    let json = serde_json::to_value(&plain).expect("JSON");
    assert_eq!(json.get("terminal_input"), None);
}
