//! The rules for compatible lists (protocol R5 to R7), with a fixed clock.

use std::sync::Arc;

use pact_mandate::{Format, SecretKey, limits::MAX_LIFETIME_SECONDS};

use super::{tenuo_list, warrant};
use crate::{
    Entry, FloorInMemory, Held, Keeper, ListRefusal, Lists,
    compat::tenuo::TenuoList,
    testing::{issuer, key, now, pinned},
};

fn keeper(signer: &SecretKey) -> Keeper {
    Keeper::new(issuer(), Format::Tenuo, pinned(&[signer]), FloorInMemory::default()).unwrap()
}

fn offer(
    keeper: &mut Keeper,
    signer: &SecretKey,
    list: &TenuoList,
    seconds: u64,
) -> Result<Arc<Held>, ListRefusal> {
    keeper.accept_compatible(&list.sign(signer).unwrap(), now(seconds))
}

fn revoked(held: &Arc<Held>, number: u8, seconds: u64) -> bool {
    let lists = Lists::none().with(Arc::clone(held));
    lists
        .fresh(&issuer(), Format::Tenuo, now(seconds))
        .unwrap()
        .contains(&Entry::of_warrant(&warrant(number)))
}

#[test]
fn r5_a_compatible_list_is_fresh_for_sixty_seconds_and_speaks_for_its_format_alone() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let held = offer(&mut keeper, &signer, &tenuo_list(1, &[1], 0), 0).unwrap();
    let lists = Lists::none().with(held);
    assert!(lists.fresh(&issuer(), Format::Tenuo, now(60)).is_ok());
    assert_eq!(lists.fresh(&issuer(), Format::Tenuo, now(61)).unwrap_err().code(), "list_stale");
    assert_eq!(lists.fresh(&issuer(), Format::Biscuit, now(0)).unwrap_err().code(), "list_missing");
}

#[test]
fn r6_a_compatible_list_of_the_same_ids_is_a_refresh() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 0), 0).unwrap();
    let refreshed = offer(&mut keeper, &signer, &tenuo_list(1, &[2, 1], 50), 50).unwrap();
    assert!(revoked(&refreshed, 1, 110));
    let older = offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 49), 50).unwrap_err();
    assert_eq!(older.code(), "list_older");
}

#[test]
fn r6_an_id_missing_from_a_compatible_list_stays_revoked_for_the_longest_lifetime() {
    let signer = key(1);
    for version in [1, 2] {
        let mut keeper = keeper(&signer);
        offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 0), 0).unwrap();
        let held = offer(&mut keeper, &signer, &tenuo_list(version, &[2], 10), 10).unwrap();
        assert!(revoked(&held, 1, 10) && revoked(&held, 2, 10));
        let last = MAX_LIFETIME_SECONDS + 10;
        let held = offer(&mut keeper, &signer, &tenuo_list(version, &[2], last), last).unwrap();
        assert!(revoked(&held, 1, last));
        let over = last + 700;
        let held = offer(&mut keeper, &signer, &tenuo_list(version, &[2], over), over).unwrap();
        assert!(!revoked(&held, 1, over) && revoked(&held, 2, over));
    }
}

#[test]
fn r6_a_compatible_list_with_added_ids_at_the_same_version_is_equivocation() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 0), 0).unwrap();
    let refused = offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2, 3], 1), 1).unwrap_err();
    assert_eq!((refused.code(), refused.is_alarm()), ("list_equivocation", true));
    let refused = offer(&mut keeper, &signer, &tenuo_list(1, &[1, 3], 1), 1).unwrap_err();
    assert_eq!(refused.code(), "list_equivocation");
}

#[test]
fn r6_a_compatible_list_with_a_lower_version_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    offer(&mut keeper, &signer, &tenuo_list(2, &[1], 0), 0).unwrap();
    assert_eq!(
        offer(&mut keeper, &signer, &tenuo_list(1, &[1], 1), 1).unwrap_err().code(),
        "list_lower_version"
    );
}

#[test]
fn r7_a_compatible_list_under_a_new_key_keeps_the_ids() {
    let (old, new) = (key(1), key(2));
    let mut keeper = keeper(&old);
    offer(&mut keeper, &old, &tenuo_list(900, &[1], 0), 0).unwrap();
    keeper.pin(pinned(&[&new]));
    let held = offer(&mut keeper, &new, &tenuo_list(1, &[2], 1), 1).unwrap();
    assert!(revoked(&held, 1, 1) && revoked(&held, 2, 1));
}
