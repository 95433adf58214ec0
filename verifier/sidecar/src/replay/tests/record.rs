//! Single use and shares, across replicas (protocol P6).

use proptest::prelude::*;

use super::{server::Server, *};

/// Attack 20.
#[test]
#[ignore = "needs redis-server"]
fn p6_of_all_replicas_one_accepts_a_proof_and_once() {
    let server = Server::start();
    let replicas: Vec<_> = (0..3).map(|_| Arc::new(store(server.port))).collect();
    for replica in &replicas {
        until_connected(replica);
    }
    let accepted: Vec<u8> = thread::scope(|scope| {
        let threads: Vec<_> = (0..12)
            .map(|at: usize| {
                let replica = &replicas[at % 3];
                scope.spawn(move || {
                    let accepts = |id: &u8| match replica.record(&proof(1, *id), now()) {
                        Ok(()) => true,
                        Err(ReplayFault::Replayed) => false,
                        Err(fault) => panic!("{fault}"),
                    };
                    (0..100).filter(accepts).collect::<Vec<u8>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut each = accepted.clone();
    each.sort_unstable();
    assert_eq!(each, (0..100).collect::<Vec<u8>>());
    for replica in &replicas {
        until("told", || replica.health().held == 100);
    }
}

/// Attack 24.
#[test]
#[ignore = "needs redis-server"]
fn p6_shares_hold_across_replicas_and_a_full_store_refuses() {
    let server = Server::start();
    let bounds = Bounds { proofs: 6, per_holder: 2, per_grant: 5 };
    let [one, other] = [(); 2].map(|()| store_with(server.port, "timeout = \"5s\"", bounds));
    assert_eq!(one.record(&proof(1, 1), now()), Ok(()));
    assert_eq!(other.record(&proof(1, 2), now()), Ok(()));
    for replica in [&one, &other] {
        assert_eq!(replica.record(&proof(1, 3), now()), Err(ReplayFault::QuotaReached { limit: 2 }));
        assert_eq!(replica.record(&proof(1, 1), now()), Err(ReplayFault::Replayed), "whatever else");
    }
    assert_eq!(one.record(&proof(2, 1), now()), Ok(()), "ids are the holder's own");
    assert_eq!(other.record(&proof(2, 2), now()), Ok(()));
    assert_eq!(one.record(&proof(3, 1), now()), Ok(()));
    assert_eq!(other.record(&proof(3, 2), now()), Err(ReplayFault::GrantQuotaReached { limit: 5 }));
    let elsewhere = |holder| {
        let given = proof(holder, 9);
        ProofId::new(
            *given.holder(),
            Entry::of_warrant(&[2; 16]),
            *given.id(),
            given.first_use(),
            given.ends_at(),
        )
    };
    assert_eq!(other.record(&elsewhere(4), now()), Ok(()));
    assert_eq!(one.record(&elsewhere(5), now()), Err(ReplayFault::Full { limit: 6 }));
    assert_eq!((one.health().held, one.health().limit), (6, 6));
}

/// T1, and the memory of the server: what has ended makes room, and what is forgotten stays refused.
#[test]
#[ignore = "needs redis-server"]
fn t1_what_has_ended_makes_room_and_is_never_accepted_again() {
    let server = Server::start();
    let bounds = Bounds { proofs: 3, per_holder: 3, per_grant: 3 };
    let [one, other] = [(); 2].map(|()| store_with(server.port, "timeout = \"5s\"", bounds));
    let ended = |id: u8| {
        let (given, ends_at) = (proof(1, id), now().wall.minus(30));
        ProofId::new(*given.holder(), *given.grant(), *given.id(), given.first_use(), ends_at)
    };
    let first = ended(1);
    assert_eq!(one.record(&first, now()), Ok(()));
    let forgotten = Err(ReplayFault::Forgotten { ends_at: first.ends_at(), floor: first.ends_at() });
    assert_eq!(other.record(&first, now()), forgotten);
    for id in 2..5 {
        assert_eq!(other.record(&proof(1, id), now()), Ok(()), "the shares were given back");
    }
    assert_eq!(one.record(&first, now()), forgotten);
}

/// T1: a clock that was set back an hour, or forward.
#[test]
#[ignore = "needs redis-server"]
fn t1_a_replica_whose_clock_is_wrong_records_nothing_and_says_why() {
    let server = Server::start();
    let store = store(server.port);
    until_connected(&store);
    let by = |wall: UnixTime| Now::new(wall, Monotonic::from_origin(Duration::ZERO));
    let wrong = [now().wall.minus(3600), now().wall.plus(3600), now().wall.minus(10), now().wall.plus(10)];
    for wall in wrong {
        assert_eq!(store.record(&proof(1, 1), by(wall)), failure(SharedFault::ClocksApart), "{wall}");
    }
    assert_eq!(store.record(&proof(1, 1), by(now().wall.minus(3))), Ok(()));
    assert!(store.state().faults["clocks_apart"] >= 4);
}

#[test]
#[ignore = "needs redis-server"]
fn p6_a_server_whose_memory_is_full_records_nothing_by_halves() {
    let server = Server::start();
    let store = store(server.port);
    assert_eq!(store.record(&proof(1, 1), now()), Ok(()));
    server.ask(&["CONFIG", "SET", "maxmemory", "1mb"]);
    server.ask(&["SELECT", "0"]);
    assert_eq!(store.record(&proof(1, 2), now()), failure(SharedFault::MemoryFull));
    server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(store.record(&proof(1, 1), now()), Err(ReplayFault::Replayed), "the record is unbroken");
    assert_eq!(store.record(&proof(1, 2), now()), Ok(()));
}

#[test]
#[ignore = "needs redis-server"]
fn the_user_needs_what_the_readme_says_and_no_more() {
    let server = Server::with(&["--save", "", "--requirepass", "open sesame"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let written = |text: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    let named = format!("timeout = \"5s\"\npassword_file = \"{}\"", file.display());
    assert_eq!(store(server.port).record(&proof(1, 1), now()), failure(SharedFault::Password));
    written("wrong\n");
    let mut replica = store_with(server.port, &named, Bounds::USUAL);
    assert_eq!(replica.record(&proof(1, 1), now()), failure(SharedFault::Password));
    written("open sesame\n");
    until("let in, by the file as it is now", || replica.record(&proof(1, 2), now()).is_ok());
    let rule = acl_of_the_readme();
    let mut parts = vec![b"ACL".as_slice(), b"SETUSER", b"pact", b"on", b">hunter2"];
    parts.extend(rule.iter().map(String::as_bytes));
    let set = server.as_default("open sesame", &parts);
    assert_eq!(set, resp::Reply::Text(b"OK".into()), "{rule:?}");
    written("hunter2\n");
    let url = format!("redis = \"redis://pact@127.0.0.1:{}/0\"\n{named}", server.port);
    replica = store_with(server.port, &url, Bounds::USUAL);
    assert_eq!(replica.record(&proof(1, 3), now()), Ok(()));
    assert_eq!(replica.record(&proof(1, 2), now()), Err(ReplayFault::Replayed));
}

/// The line of the README that gives the user its rights.
fn acl_of_the_readme() -> Vec<String> {
    let readme = include_str!("../../../README.md");
    let line = readme.lines().find(|line| line.starts_with("user pact ")).unwrap();
    line.split(' ').skip(4).map(str::to_owned).collect()
}

/// As the server of requests does it: many at once, on two threads.
#[test]
#[ignore = "needs redis-server"]
fn many_callers_at_once_are_all_answered() {
    const CALLERS: u8 = 64;
    const EACH: u8 = 100;
    let server = Server::start();
    let store = Arc::new(store(server.port));
    until_connected(&store);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let begun = now_exactly();
    runtime.block_on(async {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for id in 0..EACH {
                        assert_eq!(store.record(&proof(caller, id), now()), Ok(()));
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });
    let proofs = usize::from(CALLERS) * usize::from(EACH);
    println!("{proofs} proofs in {:?}", begun.elapsed());
    until("told", || store.health().held == proofs);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever comes in whatever order through whichever replica: as one memory would judge it.
    #[test]
    #[ignore = "needs redis-server"]
    fn p6_replicas_together_judge_as_one_memory(
        asked in prop::collection::vec((0..3usize, 1..5u8, 0..8u8), 1..80)
    ) {
        let server = Server::start();
        let bounds = Bounds { proofs: 18, per_holder: 6, per_grant: 20 };
        let replicas = [(); 3].map(|()| store_with(server.port, "timeout = \"5s\"", bounds));
        let mut used: Vec<(u8, u8)> = Vec::new();
        for (at, holder, id) in asked {
            let share = used.iter().filter(|(owner, _)| *owner == holder).count();
            let expected = if used.contains(&(holder, id)) {
                Err(ReplayFault::Replayed)
            } else if share >= 6 {
                Err(ReplayFault::QuotaReached { limit: 6 })
            } else if used.len() >= 18 {
                Err(ReplayFault::Full { limit: 18 })
            } else {
                used.push((holder, id));
                Ok(())
            };
            prop_assert_eq!(replicas[at].record(&proof(holder, id), now()), expected);
        }
    }
}
