//! A record that cannot be shown to be unbroken begins anew, for every replica alike (protocol P7).

use super::{resp::Reply, server::Server, *};

/// Two replicas of a server, and a proof that one of them has accepted.
fn two(server: &Server) -> ([SharedReplay; 2], ProofId) {
    let replicas = [(); 2].map(|()| store(server.port));
    let used = proof_in(20, 1, 1);
    assert_eq!(replicas[0].record(&used, now()), Ok(()));
    assert_eq!(replicas[1].record(&used, now()), Err(ReplayFault::Replayed));
    (replicas, used)
}

fn is_before(answer: &Result<(), ReplayFault>) -> bool {
    matches!(answer, Err(ReplayFault::BeforeStore { .. }))
}

/// Nothing that can have been used before counts; what is made later does, once.
///
/// What was used is a proof as a caller could have made it up to now. That of [`two`] is made later, so that the first
/// record accepts it at once; here it is asked about as if it had been made a moment ago.
fn begun_anew(replicas: &[SharedReplay; 2], used: &ProofId) {
    let at_once = ProofId::new(*used.holder(), *used.grant(), *used.id(), now().wall, used.ends_at());
    for replica in [&replicas[1], &replicas[0], &replicas[1]] {
        let answer = replica.record(&at_once, now());
        assert!(is_before(&answer), "{answer:?}");
    }
    assert_eq!(replicas[0].health().since, replicas[1].health().since);
    let later = proof_in(40, 1, 2);
    assert_eq!(replicas[0].record(&later, now()), Ok(()));
    assert_eq!(replicas[1].record(&later, now()), Err(ReplayFault::Replayed));
    assert_eq!(replicas[0].health().failed, None);
}

#[test]
#[ignore = "needs redis-server"]
fn p7_a_new_record_refuses_what_could_have_been_used_before_it() {
    let server = Server::start();
    let replicas = [(); 2].map(|()| store(server.port));
    let begun = now().wall;
    for replica in &replicas {
        let answer = replica.record(&proof_in(0, 1, 1), now());
        assert!(is_before(&answer), "{answer:?}");
    }
    let since = replicas[0].health().since;
    assert!((5..=7).contains(&since.since(begun)), "as far ahead as replicas' clocks may be: {since}");
    assert_eq!(since, replicas[1].health().since);
}

#[test]
#[ignore = "needs redis-server"]
fn p7_a_record_that_was_flushed_begins_anew() {
    let server = Server::start();
    let (replicas, used) = two(&server);
    server.ask(&["FLUSHALL"]);
    begun_anew(&replicas, &used);
}

#[test]
#[ignore = "needs redis-server"]
fn p7_a_record_of_which_any_part_is_missing_begins_anew() {
    let server = Server::start();
    for part in ["epoch", "ends", "used", "holders", "grants"] {
        let (replicas, used) = two(&server);
        assert_eq!(server.ask(&["DEL", &format!("{{pact}}:replay:{part}")]), Reply::Number(1), "{part}");
        begun_anew(&replicas, &used);
        server.ask(&["FLUSHALL"]);
    }
    let (replicas, used) = two(&server);
    server.ask(&["HDEL", "{pact}:replay:epoch", "since"]);
    begun_anew(&replicas, &used);
}

#[test]
#[ignore = "needs redis-server"]
fn p7_a_restart_begins_anew_whatever_was_kept_on_disk() {
    for options in [
        ["--save", "", "--appendonly", "no"],
        ["--save", "", "--appendonly", "yes"],
        ["--save", "3600 1", "--appendonly", "no"],
    ] {
        let mut server = Server::with(&options);
        let (replicas, used) = two(&server);
        server.restart();
        let heard = |replica: &SharedReplay| is_before(&replica.record(&proof_in(0, 9, 9), now()));
        until("heard of the new record", || replicas.iter().all(heard));
        begun_anew(&replicas, &used);
    }
}

#[test]
#[ignore = "needs redis-server"]
fn p7_a_server_that_is_killed_is_missed_and_when_it_is_back_the_record_begins_anew() {
    let mut server = Server::with(&["--save", "", "--appendonly", "yes"]);
    let (replicas, used) = two(&server);
    server.kill();
    for id in 0..50 {
        for replica in &replicas {
            let answer = replica.record(&proof(2, id), now());
            assert!(matches!(answer, Err(ReplayFault::Failed(_))), "{answer:?}");
        }
    }
    assert!(replicas.iter().all(|replica| replica.health().failed.is_some()));
    server.start_again();
    until("back by itself", || replicas.iter().all(|replica| replica.state().fault.is_none()));
    begun_anew(&replicas, &used);
}

#[test]
#[ignore = "needs redis-server"]
fn p7_a_server_that_may_forget_is_not_relied_on() {
    let server = Server::start();
    let (replicas, used) = two(&server);
    for policy in ["allkeys-lru", "volatile-ttl", "allkeys-random"] {
        server.ask(&["CONFIG", "SET", "maxmemory-policy", policy]);
        for replica in &replicas {
            assert_eq!(replica.record(&proof(1, 7), now()), failure(SharedFault::Eviction), "{policy}");
        }
    }
    server.ask(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    begun_anew(&replicas, &used);
}

#[test]
#[ignore = "needs redis-server"]
fn p7_another_database_is_another_record() {
    let server = Server::start();
    let (replicas, used) = two(&server);
    server.ask(&["SWAPDB", "0", "1"]);
    begun_anew(&replicas, &used);
}

/// A failover: the replica knows the record, though perhaps not its end.
#[test]
#[ignore = "needs redis-server"]
fn p7_a_replica_is_not_written_to_and_begins_anew_when_it_takes_over() {
    // A standby that lost its first connection, as on a busy machine, tries again in seconds and not in a minute.
    let soon = [
        "--save",
        "",
        "--repl-timeout",
        "5",
        "--repl-ping-replica-period",
        "1",
        "--repl-diskless-sync-delay",
        "0",
    ];
    let (server, standby) = (Server::with(&soon), Server::with(&soon));
    standby.ask(&["REPLICAOF", "127.0.0.1", &server.port.to_string()]);
    let replicas = [(); 2].map(|()| store(server.port));
    let copied = [(); 2].map(|()| store(standby.port));
    until("a replica", || copied[0].record(&proof(1, 1), now()) == failure(SharedFault::ReadOnly));
    let used = proof_in(20, 1, 1);
    until("recorded", || replicas[0].record(&used, now()).is_ok());
    standby.ask(&["CONFIG", "SET", "replica-read-only", "no"]);
    assert_eq!(copied[1].record(&used, now()), failure(SharedFault::ReadOnly), "be it writable");
    until("copied", || standby.ask(&["ZCARD", "{pact}:replay:ends"]) == Reply::Number(1));
    standby.ask(&["REPLICAOF", "NO", "ONE"]);
    until("taken over", || is_before(&copied[0].record(&proof_in(0, 9, 9), now())));
    begun_anew(&copied, &used);
}

/// Whoever may write there can put an older copy back that fits. A replica that has seen more notices.
#[test]
#[ignore = "needs redis-server"]
fn p7_an_older_copy_of_the_record_begins_anew_when_somebody_has_seen_more() {
    let server = Server::start();
    let replicas = [(); 2].map(|()| store(server.port));
    assert_eq!(replicas[0].record(&proof(1, 1), now()), Ok(()));
    let names = ["epoch", "ends", "used", "holders", "grants"].map(|part| format!("{{pact}}:replay:{part}"));
    let copies = names.clone().map(|name| match server.ask(&["DUMP", &name]) {
        Reply::Text(copy) => copy,
        reply => panic!("{reply:?}"),
    });
    let used = proof_in(20, 1, 2);
    assert_eq!(replicas[1].record(&used, now()), Ok(()));
    for (name, copy) in names.iter().zip(&copies) {
        let parts = [b"RESTORE", name.as_bytes(), b"0", copy, b"REPLACE"];
        assert_eq!(server.try_ask_bytes(&parts), Some(Reply::Text(b"OK".into())));
    }
    let answer = replicas[1].record(&proof_in(0, 9, 9), now());
    assert!(is_before(&answer), "{answer:?}");
    begun_anew(&[store(server.port), store(server.port)], &used);
}

/// A script that is gone costs one refusal, or none.
#[test]
#[ignore = "needs redis-server"]
fn p7_a_script_that_was_dropped_is_brought_again() {
    let server = Server::start();
    let (replicas, used) = two(&server);
    server.ask(&["SCRIPT", "FLUSH"]);
    for replica in &replicas {
        until("brought", || replica.record(&used, now()) == Err(ReplayFault::Replayed));
    }
}
