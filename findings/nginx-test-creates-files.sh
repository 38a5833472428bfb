#!/usr/bin/env bash
# Guess: `nginx -t` reads the configuration and says whether it is valid.
# True: it also does what a start does up to the listening: it creates the log files, the folders for
# temporary files and an empty file for the process number, wherever the configuration puts them.
# Version: nginx 1.22.1 of Debian 12. Source: run below; `ngx_init_cycle` in src/core/ngx_cycle.c.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/debian.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

unpack nginx=1.22.1-9+deb12u11
mkdir project
cat >project/nginx.conf <<'CONF'
error_log error.log;
pid nginx.pid;
events {}
http {
    access_log access.log;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
}
CONF
unpacked/usr/sbin/nginx -v 2>&1
unpacked/usr/sbin/nginx -t -p "$folder/project" -c nginx.conf -e "$folder/start.log" 2>&1
files=$(cd project && echo *)
echo "files after nginx -t: $files"
test "$files" = 'access.log body error.log fastcgi nginx.conf nginx.pid proxy scgi uwsgi'
