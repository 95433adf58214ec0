//! Rung 3: revocation lists (protocol R3 to R5).

use std::time::Duration;

use pact_mandate::{Format, Monotonic, Now};
use pact_revocation::{Draft, Entry, Lists, SourceTime};
use pact_verifier::refusal::Class;

use crate::{biscuit, tenuo, world::*};

/// The same story in each format.
fn in_each_format(story: impl Fn(World, Credential)) {
    let (credential, now) = tenuo::mint();
    story(World::new(now), credential);
    story(World::new(biscuit::start()), biscuit::mint(Some(AGENT)));
}

#[test]
fn r5_nothing_is_fresh_before_the_first_list() {
    in_each_format(|mut world, credential| {
        world.lists = Lists::none();
        let refused = world.call(&credential, "read_file", "{}").unwrap_err();
        assert_eq!((refused.code(), refused.class()), ("list_missing", Class::Unavailable));
    });
}

#[test]
fn r5_a_list_serves_for_sixty_seconds_by_either_clock() {
    in_each_format(|mut world, credential| {
        let received = world.now;
        world.lists = list(received, &[]);
        world.now = later(received, 60);
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
        world.now = later(received, 61);
        assert_eq!(world.code(&credential, "read_file", "{}"), "list_stale");
        // The wall clock is set back: the list is not younger for it (T1).
        world.now = Now::new(received.wall, later(received, 61).monotonic);
        assert_eq!(world.code(&credential, "read_file", "{}"), "list_stale");
        world.now = Now::new(received.wall, Monotonic::from_origin(Duration::ZERO));
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
    });
}

#[test]
fn r3_each_link_mandate_and_key_of_the_chain_stops_it() {
    in_each_format(|mut world, credential| {
        for (link, entry) in credential.entries.iter().enumerate() {
            world.lists = list(world.now, &[*entry]);
            let refused = world.call(&credential, "read_file", "{}").unwrap_err();
            assert_eq!((refused.code(), refused.link(), refused.rule()), ("revoked", Some(link), "R3"));
        }
        for seed in [ROOT, AGENT] {
            world.lists = list(world.now, &[Entry::of_key(&public(seed).thumbprint())]);
            let refused = world.call(&credential, "read_file", "{}").unwrap_err();
            assert_eq!((refused.code(), refused.link()), ("revoked", None));
        }
        world.lists = list(world.now, &[Entry::of_warrant(&[9; 16]), Entry::of_key(&public(9).thumbprint())]);
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit", "others' ids stop nobody");
    });
}

#[test]
fn r3_a_listed_mandate_stops_the_token_that_names_it() {
    let mut world = World::new(biscuit::start());
    let mandate = "11111111-1111-4111-8111-111111111111".parse().unwrap();
    world.lists = list(world.now, &[Entry::of_mandate(mandate)]);
    assert_eq!(world.code(&biscuit::mint(Some(AGENT)), "read_file", "{}"), "revoked");
}

#[test]
fn c6_a_credential_of_an_imported_mandate_needs_its_source_fresh_on_the_issuers_list() {
    const SOURCE: &str = "https://source.example";
    let mut world = World::new(biscuit::start());
    let imported = biscuit::mint_from(Some(AGENT), &format!(r#"source("{SOURCE}");"#));
    assert_eq!(world.code(&imported, "read_file", "{}"), "source_missing");
    let vouched = |world: &World, signed_at: SourceTime| {
        let draft =
            Draft::first(ISSUER.parse().unwrap()).with_sources([(SOURCE.parse().unwrap(), signed_at)]);
        keep(ISSUER, LIST, &draft.sign(&key(LIST), world.now.wall).unwrap(), world.now)
    };
    world.lists = vouched(&world, SourceTime::At(world.now.wall.minus(61)));
    assert_eq!(world.code(&imported, "read_file", "{}"), "source_stale");
    world.lists = vouched(&world, SourceTime::At(world.now.wall.minus(60)));
    assert_eq!(world.code(&imported, "read_file", "{}"), "permit");
    world.lists = vouched(&world, SourceTime::None);
    assert_eq!(world.code(&imported, "read_file", "{}"), "permit", "declared to publish none");
}

#[test]
fn r4_another_issuers_list_neither_helps_nor_harms() {
    in_each_format(|mut world, credential| {
        let other = list_of("https://other.example", 9, &Format::ALL, world.now, &credential.entries);
        world.lists = other.clone();
        assert_eq!(world.code(&credential, "read_file", "{}"), "list_missing");
        let own = list(world.now, &[]);
        let both = own.iter().chain(other.iter()).fold(Lists::none(), |lists, held| lists.with(held.clone()));
        world.lists = both;
        assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
    });
}

#[test]
fn r4_a_list_that_does_not_cover_the_format_does_not_serve() {
    in_each_format(|mut world, credential| {
        world.lists = list_of(ISSUER, LIST, &[Format::Pact], world.now, &[]);
        assert_eq!(world.code(&credential, "read_file", "{}"), "list_not_covering");
    });
}
