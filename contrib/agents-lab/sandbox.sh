#!/bin/sh
# sandbox.sh HOME CLIENTS LAB COMMAND…: the inner half of the sandbox, started as root of fresh
# namespaces. Their only network interface is the loopback interface. Hides the homes and temporary
# files of the machine, and runs the command as user `dev`, whose home is the folder HOME.
set -eu
home=$1 clients=$2 lab=$3
shift 3

ip link set lo up
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir /mnt/home /mnt/clients /mnt/lab
mount --bind "$home" /mnt/home
mount --bind "$clients" /mnt/clients
mount --bind "$lab" /mnt/lab
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs tmpfs /home
mkdir /home/dev
mount --bind /mnt/home /home/dev
printf 'root:x:0:0:root:/root:/bin/sh\ndev:x:1000:1000:dev:/home/dev:/bin/bash\n' >/mnt/passwd
printf 'root:x:0:\ndev:x:1000:\n' >/mnt/group
mount --bind /mnt/passwd /etc/passwd
mount --bind /mnt/group /etc/group

# Without root on the machine only one user is mapped; another namespace gives it another number.
case $(cat /proc/self/uid_map) in
*[!0-9]1) become='unshare --user --map-user=1000 --map-group=1000' ;;
*) become='setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs' ;;
esac
HOME=/home/dev
cd "$HOME"
exec $become env -i HOME="$HOME" USER=dev LOGNAME=dev SHELL=/bin/bash TERM=xterm-256color LANG=C.UTF-8 \
    PATH="$HOME/.cargo/bin:$HOME/bin:/usr/local/bin:/usr/bin:/bin" "$@"
