use std::sync::Arc;

use pact_mandate::{Format, SecretKey, limits::MAX_LIFETIME_SECONDS};

use crate::{
    Draft, Entry, FloorInMemory, FloorStore, Held, Keeper, ListRefusal, ListVersion, Lists,
    compat::tenuo::TenuoList,
    floor::FloorError,
    testing::{T0, at, clocks, first, issuer, key, listed, now, pinned},
};

/// A keeper of the Tenuo list, over floors that another process shares.
fn keeper(signer: &SecretKey, floors: &Arc<FloorInMemory>) -> Keeper {
    Keeper::new(issuer(), Format::Tenuo, pinned(&[signer]), Arc::clone(floors)).unwrap()
}

fn offer(
    keeper: &mut Keeper,
    signer: &SecretKey,
    ids: &[u8],
    seconds: u64,
) -> Result<Arc<Held>, ListRefusal> {
    let warrants = ids.iter().map(|id| [*id; 16]).collect();
    let list = TenuoList { version: ListVersion::FIRST, issued_at: at(T0 + seconds), warrants };
    keeper.accept_compatible(&list.sign(signer).unwrap(), now(seconds))
}

/// Its ids leave as they expire, at one number: of two processes, one may see a list that the other has seen the end of.
#[test]
fn r6_fewer_of_the_same_ids_at_one_number_are_no_equivocation_whoever_saw_them() {
    let (signer, floors) = (key(1), Arc::new(FloorInMemory::default()));
    let (mut one, mut other) = (keeper(&signer, &floors), keeper(&signer, &floors));
    offer(&mut one, &signer, &[1, 2], 0).unwrap();
    offer(&mut other, &signer, &[1, 2], 0).unwrap();
    offer(&mut one, &signer, &[], 2).unwrap();
    // From a cache, as it was in between.
    let held = offer(&mut other, &signer, &[1], 1).unwrap();
    for id in [1, 2] {
        let lists = Lists::none().with(Arc::clone(&held));
        let fresh = lists.fresh(&issuer(), Format::Tenuo, now(2)).unwrap();
        assert!(fresh.contains(&Entry::of_warrant(&[id; 16])), "{id} stays revoked");
    }
    let floor = floors.load(&issuer(), Format::Tenuo).unwrap().unwrap();
    assert!(floor.body.entries().is_empty(), "the later list stands");
    // What nobody saw before is what a stolen key signs.
    let mut third = keeper(&signer, &floors);
    assert_eq!(offer(&mut third, &signer, &[3], 3).unwrap_err().code(), "list_equivocation");
}

/// T1: a wall clock that ran ahead once must not end what R6 keeps.
#[test]
fn r6_an_id_that_is_missing_stays_revoked_by_the_lists_own_time() {
    let (signer, floors) = (key(1), Arc::new(FloorInMemory::default()));
    let mut keeper = keeper(&signer, &floors);
    offer(&mut keeper, &signer, &[1], 0).unwrap();
    offer(&mut keeper, &signer, &[], 1).unwrap();
    let list = TenuoList { version: ListVersion::FIRST, issued_at: at(T0 + 2), warrants: Vec::new() };
    let ahead = clocks(2 * MAX_LIFETIME_SECONDS, 2);
    keeper.accept_compatible(&list.sign(&signer).unwrap(), ahead).unwrap();
    let held = offer(&mut keeper, &signer, &[], 3).unwrap();
    let lists = Lists::none().with(held);
    assert!(lists.fresh(&issuer(), Format::Tenuo, now(3)).unwrap().contains(&Entry::of_warrant(&[1; 16])));
}

/// Of our own list no entry leaves but by its expiry, under another number.
#[test]
fn r6_our_own_list_with_fewer_entries_at_one_number_is_equivocation() {
    let (signer, floors) = (key(1), Arc::new(FloorInMemory::default()));
    let ours = || Keeper::new(issuer(), Format::Pact, pinned(&[&signer]), Arc::clone(&floors)).unwrap();
    let (mut one, mut other) = (ours(), ours());
    let whole = first(&signer, [1, 2]);
    one.accept_whole(&whole.head_bytes().unwrap(), whole.body_bytes(), now(0)).unwrap();
    let less = Draft::first(issuer()).revoke([listed(1)]).sign(&signer, at(T0 + 1)).unwrap();
    let refused = other.accept_whole(&less.head_bytes().unwrap(), less.body_bytes(), now(1)).unwrap_err();
    assert_eq!(refused.code(), "list_equivocation");
}

/// C1: what could not be read back at the next start is not written.
#[test]
fn r7_more_kept_entries_than_a_body_holds_are_refused_before_they_are_written() {
    let (old, new, floors) = (key(1), key(2), Arc::new(FloorInMemory::default()));
    let mut keeper = Keeper::new(issuer(), Format::Pact, pinned(&[&old, &new]), Arc::clone(&floors)).unwrap();
    let list = first(&old, [1, 2]);
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(0)).unwrap();
    let list = Draft::first(issuer()).revoke([listed(3)]).sign(&new, at(T0 + 1)).unwrap();
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(1)).unwrap();
    let floor = floors.load(&issuer(), Format::Pact).unwrap().unwrap();
    floor.check_kept(2).unwrap();
    let refused = floor.check_kept(1).unwrap_err();
    assert!(matches!(refused, FloorError::TooManyKept { count: 2 }));
    let refused = ListRefusal::from(refused);
    assert_eq!((refused.code(), refused.is_alarm()), ("list_too_many_kept", true));
}
