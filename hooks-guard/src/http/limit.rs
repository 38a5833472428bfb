//! Rate limit per client. Takes the peer address of a connection; returns the client, and whether
//! it may send a request now.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

const WINDOW: Duration = Duration::from_secs(60);
/// Number of clients above which those without a request in the last minute are removed.
const MAX_TRACKED_CLIENTS: usize = 1024;

/// Identity of a client, chosen so that changing the address does not change the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientIdentity {
    /// All clients of the Unix socket.
    Socket,
    /// All clients with an address of this machine: a process can use any of these addresses.
    Machine,
    /// The IPv4 address of another machine.
    V4(Ipv4Addr),
    /// The first 64 bits of an IPv6 address: a machine usually controls all addresses of its /64.
    V6([u16; 4]),
}

impl ClientIdentity {
    /// Returns the client at an address; `None` is the Unix socket.
    pub(crate) fn of(peer: Option<SocketAddr>) -> Self {
        let Some(peer) = peer else {
            return Self::Socket;
        };
        let ip = peer.ip().to_canonical();
        if ip.is_loopback() || is_own(peer, ip) {
            return Self::Machine;
        }
        match ip {
            IpAddr::V4(ip) => Self::V4(ip),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Self::V6([a, b, c, d])
            }
        }
    }
}

/// Returns `true` if the address belongs to this machine: a socket can be bound to no other
/// address.
fn is_own(peer: SocketAddr, ip: IpAddr) -> bool {
    let mut address = peer;
    address.set_ip(ip);
    address.set_port(0);
    UdpSocket::bind(address).is_ok()
}

/// Sliding-window limit on the requests of a client within any 60 seconds. Each request is
/// remembered individually, so the allowance never resets at once.
#[derive(Debug)]
pub(crate) struct RateLimit {
    max_requests: u32,
    clients: Mutex<HashMap<ClientIdentity, VecDeque<Instant>>>,
}

/// Remaining allowance of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Time until the allowance increases by one.
    pub(crate) reset: Duration,
    pub(crate) allowed: bool,
}

impl RateLimit {
    /// Returns `None` for a limit of 0, which means unlimited.
    pub(crate) fn new(most: u32) -> Option<Self> {
        (most > 0).then(|| Self {
            max_requests: most,
            clients: Mutex::default(),
        })
    }

    /// Counts a request, unless the limit is reached.
    pub(crate) fn try_acquire(&self, client: ClientIdentity, now: Instant) -> Allowance {
        let mut clients = self
            .clients
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if clients.len() >= MAX_TRACKED_CLIENTS && !clients.contains_key(&client) {
            clients.retain(|_, requests| requests.back().is_some_and(|at| now - *at < WINDOW));
        }
        let requests = clients.entry(client).or_default();
        while requests.front().is_some_and(|at| now - *at >= WINDOW) {
            requests.pop_front();
        }
        let allowed = requests.len() < self.max_requests as usize;
        if allowed {
            requests.push_back(now);
        }
        let reset = requests.front().map_or(WINDOW, |at| WINDOW - (now - *at));
        Allowance {
            limit: self.max_requests,
            remaining: self.max_requests
                - u32::try_from(requests.len()).unwrap_or(self.max_requests),
            reset,
            allowed,
        }
    }
}

/// Peer address of a connection; `None` for the Unix socket. [`Server`](super::Server) adds it to
/// every request; a request without it counts as one from the Unix socket.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub Option<SocketAddr>);

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::{ClientIdentity, RateLimit, WINDOW};
    use tokio::time::{Duration, Instant};

    #[test]
    fn p_11_the_window_of_sixty_seconds_is_sliding() {
        let limit = RateLimit::new(3).expect("a limit");
        let start = Instant::now();
        let at = |seconds| {
            limit.try_acquire(ClientIdentity::Socket, start + Duration::from_secs(seconds))
        };
        assert_eq!(at(0).remaining, 2);
        assert_eq!(at(50).remaining, 1);
        assert_eq!(at(59).remaining, 0);
        let refused = at(59);
        assert!(!refused.allowed);
        assert_eq!(refused.reset, Duration::from_secs(1));
        assert!(at(60).allowed, "the first request has left the window");
        let refused = at(61);
        assert!(!refused.allowed, "the window does not restart");
        assert_eq!(refused.reset, WINDOW - Duration::from_secs(11));
    }

    #[test]
    fn p_11_each_client_has_its_own_limit() {
        let limit = RateLimit::new(1).expect("a limit");
        let now = Instant::now();
        assert!(limit.try_acquire(ClientIdentity::Socket, now).allowed);
        assert!(limit.try_acquire(ClientIdentity::Machine, now).allowed);
        assert!(!limit.try_acquire(ClientIdentity::Socket, now).allowed);
    }

    #[test]
    fn p_11_all_addresses_of_this_machine_are_one_client() {
        let of = |address: &str| ClientIdentity::of(Some(address.parse().expect("an address")));
        for own in [
            "127.0.0.1:4000",
            "127.200.3.4:1",
            "[::1]:4000",
            "[::ffff:127.9.9.9]:4000",
        ] {
            assert_eq!(of(own), ClientIdentity::Machine, "{own}");
        }
        assert_eq!(of("192.0.2.7:1"), of("192.0.2.7:2"));
        assert_eq!(of("192.0.2.7:1"), of("[::ffff:192.0.2.7]:2"));
        assert_ne!(of("192.0.2.7:1"), of("192.0.2.8:1"));
        assert_eq!(of("[2001:db8:0:1::5]:1"), of("[2001:db8:0:1:ffff::6]:1"));
        assert_ne!(of("[2001:db8:0:1::5]:1"), of("[2001:db8:0:2::5]:1"));
    }

    #[test]
    fn inactive_clients_are_removed() {
        let limit = RateLimit::new(1).expect("a limit");
        let start = Instant::now();
        for client in 0..super::MAX_TRACKED_CLIENTS as u32 {
            limit.try_acquire(ClientIdentity::V4(Ipv4Addr::from(client)), start);
        }
        limit.try_acquire(ClientIdentity::Socket, start + WINDOW);
        assert_eq!(limit.clients.lock().expect("no panic").len(), 1);
    }
}
