# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of RoCE, which source this file: runs a server on one node and a client on the
# other, mostly with programs of Debian.

work=$(mktemp -d)
count=0
# node of the server and of the client; a test may exchange them
server=node1
client=node0
seconds=60	# most time of one program

# shares connections, because a new one takes half a second
ssh=(ssh -n -o ControlMaster=auto -o "ControlPath=$work/ssh" -o ControlPersist=600)

cleanup()
{
	"${ssh[@]}" -O exit node1 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

# result NAME CODE: one test; prints the output of the last run if CODE is not 0
result()
{
	count=$((count + 1))
	if [ "$2" = 0 ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		sed 's/^/# /' "$work/out" "$work/served" 2>/dev/null | tail -n 40
	fi
}

# ok NAME COMMAND...: one test
ok()
{
	local name=$1

	shift
	: >"$work/served"
	"$@" >"$work/out" 2>&1 </dev/null
	result "$name" $?
}

# on NODE COMMAND: runs a shell command line on NODE, which may be this node
on()
{
	if [ "$1" = "$(hostname)" ]; then
		bash -c "$2"
	else
		"${ssh[@]}" "$1" "$2"
	fi
}

# serving COMMAND: prints a script that starts a server and prints "listening" when it
# listens, at TCP or rdma_cm
serving()
{
	cat <<-EOF
		listeners()
		{
			awk '\$4 == "0A" && \$2 ~ /:(4853|B9E8|3419)\$/ { print \$10 }' \
				/proc/net/tcp /proc/net/tcp6
			rdma resource show cm_id | grep LISTEN
		}
		before=\$(listeners)
		timeout -k 5 $seconds $1 &
		for _ in \$(seq 100); do
			[ -e /proc/\$! ] || break
			! listeners | grep -qvxF "\$before" || break
			sleep 0.1
		done
		printf '\\nlistening\\n'	# rcopy prints a line without an end
		wait \$!
	EOF
}

# address NODE: prints its IPv4 address on the wire
address()
{
	echo "10.77.0.$((${1#node} + 1))"
}

# served PATTERN: waits until a line of the server's output matches PATTERN. The caller empties
# $work/served before it starts the server, because a background process truncates the file at
# an unknown time, perhaps after this function has read the previous server's output.
served()
{
	for _ in $(seq 300); do
		grep -qs "$1" "$work/served" && return
		sleep 0.1
	done
	return 1
}

# both SERVER CLIENT: runs these shell command lines on their nodes, with the server's
# address in place of @ in CLIENT; succeeds if both end well
both()
{
	local code=0 process

	: >"$work/served"
	on "$server" "$(serving "$1")" >"$work/served" 2>&1 </dev/null &
	process=$!
	served '^listening$'
	on "$client" "timeout -k 5 $seconds ${2//@/$(address "$server")}" </dev/null ||
		code=$?
	[ $code = 0 ] || echo "the client ended with code $code"
	wait $process || { echo "the server ended with code $?"; code=1; }
	return $code
}

# perf PROGRAM OPTIONS...: runs a program of perftest, which must print a row of results
perf()
{
	local run="$* -d roce0 -F $timeout"

	case " $* " in
	*" -R "*) run="$* -F" ;;
	esac
	# with -R the program connects twice, and a slow server may not listen again in
	# time
	both "$run" "$run @" || {
		grep -q 'RDMA_CM_EVENT_REJECTED; error: 8' "$work/out" &&
			both "$run" "$run @"
	} || return
	grep -qE '^ *[0-9]+ +[0-9]+ +[0-9.]+ ' "$work/out"
}

# gid NODE: prints the index of the GID of its IPv4 address
gid()
{
	on "$1" 'cd /sys/class/infiniband/roce0/ports/1
		for g in gids/*; do
			case $(cat $g) in
			*:ffff:0a4d:*)
				grep -q v2 gid_attrs/types/${g#gids/} 2>/dev/null &&
					echo ${g#gids/} ;;
			esac
		done'
}

# Sends datagrams to a multicast group.  Linux' driver of pvrdma cannot join groups, so a
# receiver there gets an error; a sender needs no group.
multicast()
{
	local code=0 process mckey="timeout -k 5 $seconds stdbuf -oL mckey -m 239.1.2.3 -b"

	: >"$work/served"
	on "$server" "$mckey $(address "$server")" >"$work/served" 2>&1 </dev/null &
	process=$!
	served '^mckey: joined\|MULTICAST_ERROR'
	on "$client" "$mckey $(address "$client") -s -o" &&
		grep -q '^data transfers complete' "$work/out" || code=1
	wait $process || { echo "the receiver ended with code $?"; code=1; }
	if [ "${kinds[$server]}" = pvrdma ]; then
		grep -q MULTICAST_ERROR "$work/served" || code=1
	else
		grep -q '^data transfers complete' "$work/served" || code=1
	fi
	return $code
}

# pingpong KIND OPTIONS...: runs a program of libibverbs, which checks the data
pingpong()
{
	local kind=$1

	shift
	both "ibv_${kind}_pingpong -d roce0 -g ${gids[$server]} $*" \
		"ibv_${kind}_pingpong -d roce0 -g ${gids[$client]} $* @"
}

# tap NAME CODE: adds the results of a program that printed TAP, and tests that it came to
# its end
tap()
{
	local line code=$2

	while IFS= read -r line; do
		case $line in
		"ok "*|"not ok "*)
			count=$((count + 1))
			echo "${line%%ok *}ok $count - $1: ${line#*ok * - }" ;;
		"#"*)
			echo "$line" ;;
		esac
	done <"$work/out"
	grep -q '^1\.\.' "$work/out" || code=1
	result "$1: ran to its end" "$code"
}

# ucx TRANSPORT OPTIONS...: runs UCX's own program, in a terminal because it would use MPI
# otherwise
ucx()
{
	local run="UCX_TLS=$1 script -qec 'ucx_perftest -N"

	shift
	both "env $run' /dev/null" "env $run $* @' /dev/null" &&
		grep -q '^Final:' "$work/out"
}

# mpi SECONDS ARGS...: runs mpirun; its output is in $work/out
mpi()
{
	local limit=$1

	shift
	timeout -k 5 "$limit" mpirun --hostfile /etc/rnic/hosts --map-by node \
		--mca mpi_yield_when_idle 1 "$@" >"$work/out" 2>&1 </dev/null
}

# Options of perftest.  Soft-RoCE that gets no processor for the usual 67 ms retransmits.
# If the answer arrives during the retransmission, its next message has the sequence
# numbers of the last one, so the peer takes it for a duplicate, and both wait without
# end.
timeout=
declare -A gids kinds
for node in node0 node1; do
	gids[$node]=$(gid $node)
	kinds[$node]=$(on $node 'sed -n "s/.*rnic.roce=\([a-z]*\).*/\1/p" /proc/cmdline')
done
[ "${kinds[node0]}" = "${kinds[node1]}" ] || timeout="-u 20"
